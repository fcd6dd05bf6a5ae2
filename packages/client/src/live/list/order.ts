import { compareTexts, type Fields, type Item, isPosition, type Value } from '../../values.ts';

const valueAt = (record: Fields, path: string): Value =>
  path.split('.').reduce<Value>((value, segment) => {
    if (Array.isArray(value)) return isPosition(segment) ? value[Number(segment)] : undefined;
    if (typeof value !== 'object' || value === null) return undefined;
    return Object.hasOwn(value, segment) ? (value as Fields)[segment] : undefined;
  }, record);

/** Of kinds of values: arrays and objects, missing and null, strings, numbers, false, true. */
const rank = (value: Value): number => {
  if (value === undefined || value === null) return 1;
  switch (typeof value) {
    case 'string':
      return 2;
    case 'number':
      return 3;
    case 'boolean':
      return value ? 5 : 4;
    default:
      return 0;
  }
};

const compareValues = (a: Value, b: Value): number => {
  const difference = rank(a) - rank(b);
  if (difference !== 0) return difference;
  if (typeof a === 'string') return compareTexts(a, String(b));
  return typeof a === 'number' ? a - Number(b) : 0;
};

/** The order of a list with this `sort`, as docs/api.md ("Lists") has it. */
export const orderBy = (sort = '-createdAt'): ((a: Item, b: Item) => number) => {
  const fields = sort.split(',').map((text) => {
    const [, sign, field = ''] = /^\s*(-?)(.*?)\s*$/.exec(text) ?? [];
    return { field, direction: sign ? -1 : 1 };
  });
  const byId = fields.findIndex(({ field }) => field === 'id');
  const used = byId === -1 ? fields : fields.slice(0, byId + 1);
  const last = used.at(-1);
  // The time of creation is in the id.
  if (last?.field === 'createdAt') used.pop();
  return (a, b) => {
    for (const { field, direction } of used) {
      const difference = compareValues(valueAt(a, field), valueAt(b, field));
      if (difference !== 0) return difference * direction;
    }
    return compareTexts(a.id, b.id) * (last?.direction ?? -1);
  };
};
