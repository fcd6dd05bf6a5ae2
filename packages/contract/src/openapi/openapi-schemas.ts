import { z } from 'zod';

type JsonSchema = Record<string, unknown>;

interface DescribeOptions {
  io: 'input' | 'output';
  /** For an object whose schema has no id. */
  name?: string;
  /** Objects take no other keys than those that they name. */
  refusesUnknown?: boolean;
}

const place = '#/components/schemas/';

/** Zod puts what has an id into `$defs`. */
const withComponents = (schema: object): JsonSchema =>
  JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/$defs/', `"$ref":"${place}`));

const isObject = ({ type, anyOf }: JsonSchema) => type === 'object' || anyOf !== undefined;

export type Schemas = ReturnType<typeof createSchemas>;

/** The schemas of one description: those with a name, so that generated clients have it, stand there once. */
export const createSchemas = () => {
  const named = new Map<string, JsonSchema>();
  const add = (name: string, schema: JsonSchema) => {
    const known = named.get(name);
    if (known && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`Two different schemas are called ${name}.`);
    named.set(name, schema);
  };
  return {
    /** The schema, or a reference where it has a name. @throws Error when another one has its name */
    describe(schema: z.ZodType, { io, name, refusesUnknown = false }: DescribeOptions): JsonSchema {
      const {
        $schema: _,
        $defs = {},
        ...rest
      } = z.toJSONSchema(schema, {
        io,
        unrepresentable: 'any',
        override({ zodSchema: { _zod }, jsonSchema }) {
          const isPlainObject = _zod.def.type === 'object' && _zod.def.catchall === undefined;
          if (refusesUnknown && isPlainObject) jsonSchema.additionalProperties = false;
        },
      });
      for (const [id, definition] of Object.entries($defs)) add(id, withComponents(definition));
      const described = withComponents(rest);
      if (name === undefined || !isObject(described)) return described;
      add(name, described);
      return { $ref: place + name };
    },
    /** By name. */
    components: (): Record<string, JsonSchema> =>
      Object.fromEntries([...named].sort(([a], [b]) => a.localeCompare(b, 'en'))),
  };
};
