/** As JSON has it. */
export type Value = unknown;
export type Fields = Record<string, Value>;

/** As the server shows it. */
export interface Item extends Fields {
  id: string;
  createdAt?: string;
  updatedAt?: string;
}

export const isObject = (value: Value): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isPosition = (segment: string): boolean => /^(0|[1-9]\d*)$/.test(segment);

/** The order of keys does not count. */
export const equal = (a: Value, b: Value): boolean => {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => equal(item, b[i]));
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]))
  );
};

/** By code point, as the server compares; negative where `a` comes first. */
export const compareTexts = (a: string, b: string): number => {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1);
};
