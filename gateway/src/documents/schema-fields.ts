import type { CollectionShape, FieldShape, FieldType } from '@backlot/contract';

/** A part of a collection's schema; the records service has checked what is in it. */
export interface SchemaPart {
  type?: string | readonly string[];
  enum?: readonly unknown[];
  const?: unknown;
  properties?: Readonly<Record<string, SchemaPart | boolean>>;
  required?: readonly string[];
  additionalProperties?: SchemaPart | boolean;
  items?: SchemaPart | boolean;
  default?: unknown;
  title?: unknown;
  description?: unknown;
  'x-ref'?: string;
  'x-set'?: string;
}

export const readSchema = ({ schema }: CollectionShape): SchemaPart | undefined =>
  schema as SchemaPart | undefined;

const keywordsByType: readonly (readonly [type: string, keywords: readonly string[]])[] = [
  ['string', ['minLength', 'maxLength', 'pattern', 'format', 'x-ref', 'x-set']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']],
  ['array', ['items', 'minItems', 'maxItems', 'uniqueItems']],
  ['object', ['properties', 'required', 'additionalProperties']],
];

/** The types that it names; where it names none, that of which its keywords say something. */
export const listTypes = (schema: SchemaPart): readonly string[] => {
  const { type } = schema;
  if (typeof type === 'string') return [type];
  if (type) return type;
  const told = keywordsByType.find(([, keywords]) => keywords.some((name) => name in schema));
  return told ? [told[0]] : [];
};

/** The values of `enum` or `const`. */
export const listValues = (schema: SchemaPart): readonly unknown[] | undefined =>
  'const' in schema ? [schema.const] : schema.enum;

/** Whether who makes a record may leave the field out. */
export const isOptional = (
  { required = [] }: SchemaPart,
  name: string,
  field: SchemaPart | boolean,
): boolean =>
  !required.includes(name) ||
  (typeof field === 'object' && ('default' in field || 'x-set' in field));

const toFieldType = (type: string): FieldType =>
  type === 'integer' ? 'number' : (type as FieldType);

/** Where one may be missing. */
const someShare = 0.5;

const listFields = (schema: SchemaPart, prefix: string): FieldShape[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const part = typeof field === 'object' ? field : {};
    const items = typeof part.items === 'object' ? part.items : undefined;
    const values = listValues(part)?.filter((value) => typeof value === 'string');
    const path = prefix + name;
    return [
      {
        path,
        types: listTypes(part).map(toFieldType),
        share: schema.required?.includes(name) ? 1 : someShare,
        ...(items && { itemTypes: listTypes(items).map(toFieldType) }),
        ...(values && values.length > 0 && { values }),
      },
      ...listFields(part, `${path}.`),
      ...(items ? listFields(items, `${path}.`) : []),
    ];
  });

/** The fields of a collection: those of its schema, or where it has none, of the sample. */
export const describedFields = (collection: CollectionShape): readonly FieldShape[] => {
  const schema = readSchema(collection);
  return schema ? listFields(schema, '') : collection.fields;
};
