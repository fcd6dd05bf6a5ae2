import type { RouteDefinition } from '@backlot/contract';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';

/** What a call takes: an option of its command. */
export interface Field {
  name: string;
  place: 'path' | 'query' | 'body';
  /** Of the command, as commander names it. */
  option: string;
  flag: string;
  description: string;
  types: ReadonlySet<string>;
  choices: readonly string[] | undefined;
}

interface Schema {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  $ref?: string;
}

export const toKebab = (name: string): string =>
  name
    .replaceAll('_', '-')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase();

const toSchema = (type: z.ZodType): Schema =>
  z.toJSONSchema(type, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as Schema;

const variantsOf = (schema: Schema): Schema[] => [
  schema,
  ...[schema.anyOf, schema.oneOf, schema.allOf].flatMap((many) => (many ?? []).flatMap(variantsOf)),
];

const toField = (place: Field['place'], name: string, schema: Schema): Field => {
  const variants = variantsOf(schema);
  const flag = toKebab(name);
  const types = new Set(
    variants.flatMap(({ type, enum: values }) => type ?? (values ? 'string' : [])),
  );
  return {
    name,
    place,
    flag,
    option: new Option(`--${flag} <value>`).attributeName(),
    description: variants.find(({ description }) => description !== undefined)?.description ?? '',
    types: place === 'body' ? types : new Set(['string']),
    choices:
      types.size === 1 && schema.enum ? schema.enum.map((value) => String(value)) : undefined,
  };
};

const propertiesOf = (type: z.ZodType | undefined): [string, Schema][] => {
  if (!type) return [];
  const found = variantsOf(toSchema(type)).flatMap(({ properties }) =>
    Object.entries(properties ?? {}),
  );
  return [...new Map(found)];
};

/** Of two with one name the first is the option; the other is given with the whole body. */
export const fieldsOf = ({ params, query, body, takes }: RouteDefinition): Field[] => {
  const all = (
    [
      ['path', params],
      ['query', query],
      ['body', takes === undefined ? body : undefined],
    ] as const
  ).flatMap(([place, type]) =>
    propertiesOf(type).map(([name, schema]) => toField(place, name, schema)),
  );
  return all.filter(({ flag }, at) => all.findIndex((other) => other.flag === flag) === at);
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('It has to be JSON.');
  }
};

/** Commander makes an empty text of null. */
export const nothing = Symbol('null');

/** As the contract has it; of a list, one more item. */
const parse = ({ types }: Field, text: string, before: unknown): unknown => {
  if (types.has('null') && text === 'null') return nothing;
  if (types.has('array') && !text.startsWith('['))
    return [...(Array.isArray(before) ? before : []), text];
  if ((types.has('array') || types.has('object')) && /^[[{]/.test(text)) return parseJson(text);
  if (types.has('string')) return text;
  return parseJson(text);
};

const toOption = (field: Field): Option => {
  const { flag, description, types, choices, place } = field;
  const isSwitch = types.size === 1 && types.has('boolean');
  const option = new Option(`--${flag} ${isSwitch ? '[boolean]' : '<value>'}`, description);
  if (choices) option.choices([...choices]);
  else option.argParser((text: string, before: unknown) => parse(field, text, before));
  if (isSwitch) option.preset('true');
  return option.makeOptionMandatory(place === 'path');
};

export const addFields = (command: Command, fields: readonly Field[]): void => {
  for (const field of fields) command.addOption(toOption(field));
};
