import { type Group, groupFor, groups } from './groups.ts';

export interface Schema {
  type?: string | readonly string[];
  description?: string;
  $ref?: string;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  allOf?: readonly Schema[];
  additionalProperties?: Schema | boolean;
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

type Content = Readonly<Record<string, { schema?: Schema; example?: unknown }>>;

interface Described {
  operationId: string;
  summary: string;
  description?: string;
  security?: readonly object[];
  parameters?: readonly (Partial<Parameter> & { $ref?: string })[];
  requestBody?: { required?: boolean; content: Content };
  responses?: Readonly<Record<string, { description?: string; content?: Content }>>;
}

export interface ApiDescription {
  paths?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  components?: {
    schemas?: Readonly<Record<string, Schema>>;
    parameters?: Readonly<Record<string, Parameter>>;
    responses?: Readonly<Record<string, { description?: string }>>;
  };
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
}

export interface Answer {
  status: string;
  description: string;
  /** Media types; none where there is no body. */
  types: readonly string[];
  schema?: Schema;
}

export interface Operation {
  id: string;
  /** `listRecords` is "List records". */
  title: string;
  method: string;
  /** Relative to the base address of its plane, with parameters as `{name}`. */
  path: string;
  group: Group;
  summary: string;
  /** Who may call, which limit counts it, how large a body may be, what it costs. */
  facts: Readonly<Record<string, string>>;
  needsToken: boolean;
  parameters: readonly Parameter[];
  body?: { type: string; types: readonly string[]; schema: Schema; example?: unknown };
  answers: readonly Answer[];
  failures: readonly { status: string; codes: readonly string[] }[];
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

const words: Readonly<Record<string, string>> = { ai: 'AI', mcp: 'MCP', jwks: 'JWKS' };

const toTitle = (operationId: string): string => {
  const [first = '', ...rest] = operationId
    .split(/(?=[A-Z])/)
    .map((word) => words[word.toLowerCase()] ?? word.toLowerCase());
  return [first.slice(0, 1).toUpperCase() + first.slice(1), ...rest].join(' ');
};

/** `Callers: user, owner. Rate class: read.` as names and values. */
const readFacts = (description: string): Record<string, string> =>
  Object.fromEntries(
    [...description.matchAll(/(Callers|Rate class|Body|Price): (.+?)\.(?= [A-Z]|$)/g)].map(
      ([, name = '', value = '']) => [name, value],
    ),
  );

const readBody = (content: Content): NonNullable<Operation['body']> => {
  const types = Object.keys(content);
  const [type = ''] = types;
  const { schema = {}, example } = content[type] ?? {};
  return { type, types, schema, ...(example !== undefined && { example }) };
};

const readAnswers = (responses: NonNullable<Described['responses']>): Answer[] =>
  Object.entries(responses)
    .filter(([status]) => status < '400')
    .map(([status, { description = '', content = {} }]) => {
      const [described] = Object.values(content);
      const schema = described?.schema;
      return { status, description, types: Object.keys(content), ...(schema && { schema }) };
    });

const readFailures = (responses: NonNullable<Described['responses']>) =>
  Object.entries(responses)
    .filter(([status]) => /^[45]/.test(status))
    .map(([status, { description = '' }]) => ({ status, codes: description.split(', ') }));

const isDescribed = (value: unknown): value is Described =>
  typeof value === 'object' && value !== null && 'operationId' in value;

/** The operations of a description of the API, in the order in which they are shown. */
export const readOperations = ({ paths = {}, components = {} }: ApiDescription): Operation[] => {
  const resolve = (parameter: Partial<Parameter> & { $ref?: string }): Parameter[] => {
    const found = parameter.$ref
      ? components.parameters?.[parameter.$ref.split('/').at(-1) ?? '']
      : (parameter as Parameter);
    return found ? [found] : [];
  };
  const operations = Object.entries(paths).flatMap(([path, entry]) => {
    const plane = 'servers' in entry ? 'platform' : 'runtime';
    return methods.flatMap((method): Operation[] => {
      const described = entry[method];
      if (!isDescribed(described)) return [];
      const { operationId, summary, security = [], parameters = [], responses = {} } = described;
      return [
        {
          id: operationId,
          title: toTitle(operationId),
          method: method.toUpperCase(),
          path,
          group: groupFor(plane, path),
          summary,
          facts: readFacts(described.description ?? ''),
          needsToken: security.every((one) => Object.keys(one).length > 0),
          parameters: parameters.flatMap(resolve),
          ...(described.requestBody && { body: readBody(described.requestBody.content) }),
          answers: readAnswers(responses),
          failures: readFailures(responses),
        },
      ];
    });
  });
  return groups.flatMap((group) => operations.filter((operation) => operation.group === group));
};
