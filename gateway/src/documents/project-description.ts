import type { CollectionShape, FieldType } from '@backlot/contract';
import { type FieldNode, toFieldTree, typeNames } from './field-tree.ts';
import { isOptional, readSchema, type SchemaPart } from './schema-fields.ts';

type Json = Record<string, unknown>;

interface Operation extends Json {
  operationId: string;
  parameters: { name?: string; $ref?: string }[];
  responses: Record<string, unknown>;
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const objectSchema = (below: readonly FieldNode[]): Json => ({
  type: 'object',
  ...(below.length > 0 && {
    properties: Object.fromEntries(below.map((node) => [node.name, fieldSchema(node)])),
  }),
});

const typeSchema = (type: FieldType, { field, below, name }: FieldNode): Json => {
  if (type === 'object') return objectSchema(below);
  if (type === 'string') return { type, ...(field.values && { examples: field.values }) };
  if (type !== 'array') return { type };
  const items = field.itemTypes?.filter((item) => item !== 'array') ?? [];
  return { type, items: anyOf(items.map((item) => typeSchema(item, { field, below, name }))) };
};

const anyOf = (schemas: readonly Json[]): Json =>
  schemas.length > 1 ? { anyOf: schemas } : (schemas[0] ?? {});

const fieldSchema = (node: FieldNode): Json =>
  anyOf(node.field.types.map((type) => typeSchema(type, node)));

const systemProperties = {
  id: { type: 'string', format: 'uuid' },
  ownerId: { type: ['string', 'null'], format: 'uuid' },
  createdAt: { type: 'string', format: 'date-time' },
  updatedAt: { type: 'string', format: 'date-time' },
};

/** Each field by itself: which of them have to be there is said of whole records. */
const describeFields = (schema: SchemaPart): Json => {
  const { properties = {}, additionalProperties } = schema;
  const described = Object.entries(properties).map(([name, field]) => [
    name,
    typeof field === 'object' && 'x-set' in field ? { ...field, readOnly: true } : field,
  ]);
  return {
    type: 'object',
    ...(described.length > 0 && { properties: Object.fromEntries(described) }),
    ...(additionalProperties !== undefined && { additionalProperties }),
  };
};

/** What who makes a record has to send. */
const listRequired = (schema: SchemaPart = {}): string[] =>
  (schema.required ?? []).filter(
    (name) => !isOptional(schema, name, schema.properties?.[name] ?? true),
  );

/** What a client sends, with every field optional, and what the platform answers: see `endings`. */
const toSchemas = (collection: CollectionShape, name: string): Json => {
  const schema = readSchema(collection);
  const data = schema ? describeFields(schema) : objectSchema(toFieldTree(collection));
  const { properties = {} } = data as { properties?: Json };
  const required = listRequired(schema);
  const source = schema ? 'by its schema' : 'from a sample';
  return {
    [`${name}Data`]: { ...data, description: `Fields of ${collection.name}, ${source}` },
    [name]: {
      type: 'object',
      properties: { ...systemProperties, ...properties },
      required: Object.keys(systemProperties),
    },
    [`${name}Page`]: {
      type: 'object',
      properties: {
        items: { type: 'array', items: ref(name) },
        hasMore: { type: 'boolean' },
        nextCursor: { type: ['string', 'null'] },
        total: { type: 'integer', description: 'With `total=1`' },
        hint: { type: 'string' },
      },
      required: ['items', 'hasMore', 'nextCursor'],
    },
    [`${name}Request`]: {
      type: 'object',
      properties: {
        data:
          required.length > 0 ? { allOf: [ref(`${name}Data`), { required }] } : ref(`${name}Data`),
      },
      required: ['data'],
    },
    [`${name}Change`]: {
      type: 'object',
      properties: {
        data: ref(`${name}Data`),
        unset: { type: 'array', items: { type: 'string' } },
        inc: { type: 'object', additionalProperties: { type: 'number' } },
      },
    },
  };
};

const json = (schema: Json) => ({ content: { 'application/json': { schema } } });

const describeBody = (operationId: string, name: string): Json | undefined => {
  switch (operationId) {
    case 'createRecord':
    case 'replaceRecord':
      return ref(`${name}Request`);
    case 'updateRecord':
      return ref(`${name}Change`);
  }
};

const describeAnswer = (operationId: string, name: string): Json | undefined => {
  switch (operationId) {
    case 'listRecords':
      return ref(`${name}Page`);
    case 'getRecord':
    case 'createRecord':
    case 'updateRecord':
    case 'replaceRecord':
      return ref(name);
  }
};

/** `createRecord` of `todos` is `createRecordTodos`; null where an operation says nothing of fields. */
const describeOperation = (
  operation: Operation,
  name: string,
  summary: string,
): Operation | null => {
  const answer = describeAnswer(operation.operationId, name);
  if (!answer) return null;
  const status = operation.operationId === 'createRecord' ? '201' : '200';
  const body = describeBody(operation.operationId, name);
  return {
    ...operation,
    operationId: operation.operationId + name,
    summary: `${operation.summary} of ${summary}`,
    parameters: operation.parameters.filter((parameter) => parameter.name !== 'collection'),
    ...(body && { requestBody: { required: true, ...json(body) } }),
    responses: {
      [status]: { description: 'Done', ...json(answer) },
      default: operation.responses.default,
    },
  };
};

const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' && value !== null && 'operationId' in value;

/**
 * The API description with the collections of a project: a path and named schemas for each, beside the
 * general ones.
 */
export const describeProject = (general: Json, collections: readonly CollectionShape[]): Json => {
  const paths = general.paths as Record<string, Json>;
  const components = general.components as Json;
  const templates = Object.entries(paths).filter(([path]) =>
    ['/db/{collection}', '/db/{collection}/{id}'].includes(path),
  );
  const names = typeNames(collections, Object.keys((components.schemas as Json) ?? {}));
  const ofCollection = ({ name }: CollectionShape) =>
    templates.map(([path, methods]): [string, Json] => {
      const operations = Object.entries(methods).flatMap(([method, operation]) => {
        const own =
          isOperation(operation) && describeOperation(operation, names.get(name) ?? name, name);
        return own ? [[method, own] as const] : [];
      });
      return [path.replace('{collection}', name), Object.fromEntries(operations)];
    });
  const schemas = collections.map((collection) =>
    toSchemas(collection, names.get(collection.name) ?? collection.name),
  );
  return {
    ...general,
    paths: { ...Object.fromEntries(collections.flatMap(ofCollection)), ...paths },
    components: {
      ...components,
      schemas: Object.assign({}, components.schemas, ...schemas) as Json,
    },
  };
};
