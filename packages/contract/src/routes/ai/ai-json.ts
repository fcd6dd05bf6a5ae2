/** Of "json" in a call; deeper values are refused. */
export const maxJsonDepth = 64;

type JsonObject = Record<string, unknown>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isSubschema = (value: unknown) => typeof value === 'boolean' || isObject(value);

const typeNames = new Set(['string', 'number', 'integer', 'boolean', 'null', 'object', 'array']);
const isType = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length > 0 && value.every((name) => typeNames.has(name))
    : typeNames.has(value as string);

/** JSON Schema 2020-12 and draft-07, and what OpenAPI adds; besides all that begin with `$`. */
const keywords = new Set(
  `type enum const title description default examples example deprecated readOnly writeOnly nullable
  format pattern minLength maxLength contentEncoding contentMediaType contentSchema
  multipleOf minimum maximum exclusiveMinimum exclusiveMaximum
  items prefixItems additionalItems unevaluatedItems contains minContains maxContains minItems maxItems
  uniqueItems properties patternProperties additionalProperties unevaluatedProperties propertyNames
  required dependentRequired dependentSchemas dependencies minProperties maxProperties
  allOf anyOf oneOf not if then else definitions discriminator`.split(/\s+/),
);

/** One of these makes a schema, whatever stands beside it. */
const decisiveKeywords: Record<string, (value: unknown, depth: number) => boolean> = {
  $schema: (value) => typeof value === 'string',
  $ref: (value) => typeof value === 'string',
  properties: isObject,
  // Many answers have a field "items": its value has to be a schema too.
  items: (value, depth) =>
    typeof value === 'boolean' || (isObject(value) && isJsonSchema(value, depth + 1)),
  allOf: Array.isArray,
  anyOf: Array.isArray,
  oneOf: Array.isArray,
  not: isSubschema,
  if: isSubschema,
};

/** One of these makes a schema where nothing but keywords stands beside it. */
const indicativeKeywords: Record<string, (value: unknown) => boolean> = {
  type: isType,
  enum: Array.isArray,
  const: () => true,
  required: Array.isArray,
  prefixItems: Array.isArray,
  additionalProperties: isSubschema,
  patternProperties: isObject,
  $defs: isObject,
  definitions: isObject,
};

const isJsonSchema = (json: JsonObject, depth: number): boolean => {
  if (depth > maxJsonDepth) throw new RangeError('"json" is nested too deeply.');
  const names = Object.keys(json);
  const has = (tests: Record<string, (value: unknown, depth: number) => boolean>) =>
    names.some((name) => Object.hasOwn(tests, name) && tests[name]?.(json[name], depth));
  return (
    names.length === 0 ||
    has(decisiveKeywords) ||
    (names.every((name) => keywords.has(name) || name.startsWith('$')) && has(indicativeKeywords))
  );
};

const typeWord = /^(string|number|integer|boolean|null)(\??)$/i;

const schemaOfExample = (example: unknown, depth: number): JsonObject => {
  if (typeof example === 'string') {
    const [, word, optional] = typeWord.exec(example) ?? [];
    const type = word?.toLowerCase() ?? 'string';
    return { type: optional && type !== 'null' ? [type, 'null'] : type };
  }
  if (Array.isArray(example)) {
    if (depth > maxJsonDepth) throw new RangeError('"json" is nested too deeply.');
    const items = example.length === 0 ? {} : schemaOfExample(example[0], depth + 1);
    return { type: 'array', items };
  }
  return isObject(example)
    ? toJsonSchema(example, depth)
    : { type: example === null ? 'null' : typeof example };
};

/**
 * The schema that "json" of a call means: itself where it is a JSON Schema, and that of its shape where it
 * is an example or a sketch such as `{"title": "string", "pages": "integer?", "tags": ["string"]}`.
 * @throws RangeError where it is nested deeper than `maxJsonDepth`
 */
export const toJsonSchema = (json: JsonObject, depth = 0): JsonObject => {
  if (isJsonSchema(json, depth)) return json;
  const properties = Object.entries(json).map(
    ([name, example]) => [name, schemaOfExample(example, depth + 1)] as const,
  );
  // As strict modes of providers want it: all keys are required, what is optional may be null.
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: Object.keys(json),
    additionalProperties: false,
  };
};
