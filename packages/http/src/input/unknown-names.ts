import type { z } from 'zod';

/** Names that a request holds and its route does not know, with the names that it knows in their place. */
export interface UnknownName {
  /** Dotted where it lies deeper. */
  path: string;
  known: readonly string[];
}

/** Finds them in a value that nobody has validated. */
interface Finder {
  /** Of several that a union offers, only these are asked. */
  fits(value: unknown): boolean;
  find(value: unknown, at: string, found: UnknownName[]): void;
}

const maxFound = 50;
/** Further elements of a list are not looked at. */
const maxElements = 200;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const join = (at: string, name: string | number) => (at === '' ? String(name) : `${at}.${name}`);

const anything: Finder = { fits: () => true, find: () => {} };
const scalar: Finder = { fits: (value) => typeof value !== 'object', find: () => {} };

const ofObject = (shape: Record<string, z.ZodType>): Finder => {
  const known = Object.keys(shape);
  const fields = new Map(Object.entries(shape).map(([name, field]) => [name, finderFor(field)]));
  return {
    fits: isObject,
    find(value, at, found) {
      if (!isObject(value)) return;
      for (const name of Object.keys(value)) {
        if (found.length >= maxFound) return;
        const field = fields.get(name);
        if (field) field.find(value[name], join(at, name), found);
        else found.push({ path: join(at, name), known });
      }
    },
  };
};

const ofArray = (element: Finder): Finder => ({
  fits: Array.isArray,
  find(value, at, found) {
    if (element === scalar || element === anything || !Array.isArray(value)) return;
    for (const [index, item] of value.slice(0, maxElements).entries())
      element.find(item, join(at, index), found);
  },
});

const ofRecord = (value: Finder): Finder => ({
  fits: isObject,
  find(given, at, found) {
    if (value === scalar || value === anything || !isObject(given)) return;
    for (const [name, item] of Object.entries(given)) {
      if (found.length >= maxFound) return;
      value.find(item, join(at, name), found);
    }
  },
});

/** The option that knows the most of what is there is the one that was meant. */
const ofUnion = (options: readonly Finder[]): Finder => ({
  fits: (value) => options.some((option) => option.fits(value)),
  find(value, at, found) {
    const results = options
      .filter((option) => option.fits(value))
      .map((option) => {
        const names: UnknownName[] = [];
        option.find(value, at, names);
        return names;
      })
      .sort((a, b) => a.length - b.length);
    found.push(...(results[0] ?? []));
  },
});

/** Reads a schema once; zod itself either refuses unknown keys or drops them without a word. */
const finderFor = (schema: z.ZodType): Finder => {
  const { def } = schema as z.ZodType & { def: z.core.$ZodTypes['_zod']['def'] };
  switch (def.type) {
    case 'object': {
      const isLoose = def.catchall !== undefined && def.catchall._zod.def.type !== 'never';
      return isLoose ? anything : ofObject(def.shape as Record<string, z.ZodType>);
    }
    case 'array':
      return ofArray(finderFor(def.element as z.ZodType));
    case 'record':
      return ofRecord(finderFor(def.valueType as z.ZodType));
    case 'union':
      return ofUnion(def.options.map((option) => finderFor(option as z.ZodType)));
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return finderFor(def.innerType as z.ZodType);
    case 'pipe': {
      // What is only looked at first says nothing of what it takes.
      const isLookedAt = def.in._zod.def.type === 'transform';
      return finderFor((isLookedAt ? def.out : def.in) as z.ZodType);
    }
    case 'string':
    case 'number':
    case 'boolean':
    case 'enum':
    case 'literal':
      return scalar;
    default:
      return anything;
  }
};

const ofNothing = ofObject({});
const finders = new WeakMap<z.ZodType, Finder>();

/** At most 50. @param schema undefined knows no name */
export const findUnknownNames = (schema: z.ZodType | undefined, value: unknown): UnknownName[] => {
  const finder = schema ? (finders.get(schema) ?? finderFor(schema)) : ofNothing;
  if (schema) finders.set(schema, finder);
  const found: UnknownName[] = [];
  finder.find(value, '', found);
  return found;
};

/** The names of an object's fields; none where it is no object. */
export const namesIn = (schema: z.ZodType | undefined): string[] => {
  const def = (schema as (z.ZodType & { def: z.core.$ZodTypes['_zod']['def'] }) | undefined)?.def;
  return def?.type === 'object' ? Object.keys(def.shape) : [];
};
