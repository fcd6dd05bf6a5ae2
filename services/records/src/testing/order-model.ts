import type { Json } from '../where/filter.ts';

/** A record as a list shows it. */
export interface Item {
  id: string;
  ownerId: string | null;
  createdAt: string;
  updatedAt: string;
  [key: string]: Json;
}

/** The contract's order: arrays and objects < missing and null < texts < numbers < false < true. */
const rank = (value: Json | undefined): number => {
  if (value === undefined || value === null) return 1;
  if (typeof value === 'object') return 0;
  if (typeof value === 'string') return 2;
  if (typeof value === 'number') return 3;
  return value ? 5 : 4;
};
const compareValues = (a: Json | undefined, b: Json | undefined): number => {
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(String(b)));
  return typeof a === 'number' ? a - Number(b) : 0;
};
const valueAt = (item: Json | undefined, path: string[]): Json | undefined => {
  const [segment, ...rest] = path;
  if (segment === undefined) return item;
  if (Array.isArray(item))
    return /^\d+$/.test(segment) ? valueAt(item[Number(segment)], rest) : undefined;
  if (typeof item !== 'object' || item === null) return undefined;
  return Object.hasOwn(item, segment) ? valueAt(item[segment], rest) : undefined;
};
/** The ids in the order that a list sorted so has. */
export const expectedOrder = (items: Item[], sort: string): string[] => {
  const fields = sort
    .split(',')
    .map((field) => ({ path: field.replace(/^-/, ''), down: field.startsWith('-') }));
  const tie = { path: 'id', down: fields.at(-1)?.down ?? true };
  const order = [...fields, tie];
  return [...items]
    .sort((a, b) => {
      for (const { path, down } of order) {
        const difference = compareValues(valueAt(a, path.split('.')), valueAt(b, path.split('.')));
        if (difference !== 0) return down ? -difference : difference;
      }
      return 0;
    })
    .map(({ id }) => id);
};
