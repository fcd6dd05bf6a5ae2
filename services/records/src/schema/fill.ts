import { isObject, type ValueSchema } from './compiled-schema.ts';

type Data = Readonly<Record<string, unknown>>;

/**
 * The document with the defaults of fields that it has not, in objects that it has. The same object where nothing is
 * missing. Elements of lists get none: a long list of short ones would become a large document.
 * @param isLeft whether a field of the first level stays missing
 */
export const fillDefaults = (
  { properties, fillsBelow }: ValueSchema,
  data: Data,
  isLeft: (field: string) => boolean = () => false,
): Data => {
  if (!properties || !fillsBelow) return data;
  let filled: Record<string, unknown> | undefined;
  for (const [name, schema] of properties) {
    const value = fillField(schema, data, name);
    if (value === undefined || (Object.hasOwn(data, name) && value === data[name]) || isLeft(name))
      continue;
    filled ??= { ...data };
    filled[name] = value;
  }
  return filled ?? data;
};

const fillField = (schema: ValueSchema, data: Data, name: string): unknown => {
  if (!Object.hasOwn(data, name)) return schema.default;
  const value = data[name];
  return schema.fillsBelow && isObject(value) ? fillDefaults(schema, value) : value;
};
