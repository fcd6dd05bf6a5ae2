import type { Json, Test } from '../../where/filter.ts';

/** Keys of a slot that are next to each other in its index, or single ones. */
export type KeyRange =
  | { kind: 'all' }
  /** All but arrays and objects. */
  | { kind: 'scalars' }
  | { kind: 'points'; keys: Json[] }
  | { kind: 'between'; bounds: KeyBound[] };

export interface KeyBound {
  sign: '>' | '>=' | '<' | '<=';
  /** JSON text, because no double is as low as the bound of all numbers. */
  key: string;
}

/** The key of arrays and objects: what a condition finds in them is looked up in the document. */
const markerKey: Json = [];
export const markers: KeyRange = { kind: 'points', keys: [markerKey] };

/** Longest string that a key holds whole, in characters. */
export const maxKeyLength = 128;

const cut = (text: string): string =>
  text.length <= maxKeyLength ? text : [...text].slice(0, maxKeyLength).join('');

/** As `slot_key` makes it. */
const slotKey = (value: Json): Json => {
  if (typeof value === 'object' && value !== null) return markerKey;
  return typeof value === 'string' ? cut(value) : value;
};

/** The key of a sort key, both as JSON text: numbers stay as PostgreSQL wrote them. */
export const keyOfText = (text: string): string =>
  text.startsWith('"') ? JSON.stringify(slotKey(JSON.parse(text) as Json)) : text;

/** jsonb's order: null < texts < numbers < false < true. No stored number is as low as -1e400. */
const lowestNumber = '-1e400';

const comparedRange = (sign: KeyBound['sign'], value: string | number | boolean): KeyRange => {
  const key = slotKey(value);
  // A long string shares its key with those that begin like it.
  const isShared = typeof key === 'string' && key.length >= maxKeyLength;
  const inclusive = isShared ? (sign.startsWith('>') ? '>=' : '<=') : sign;
  const bound: KeyBound = { sign: inclusive, key: JSON.stringify(key) };
  const isLower = sign.startsWith('>');
  const ends: Record<string, KeyBound> = {
    string: isLower ? { sign: '<', key: lowestNumber } : { sign: '>=', key: '""' },
    number: isLower ? { sign: '<', key: 'false' } : { sign: '>=', key: lowestNumber },
    boolean: isLower ? { sign: '<=', key: 'true' } : { sign: '>=', key: 'false' },
  };
  return {
    kind: 'between',
    bounds: [bound, ends[typeof value]].filter((end) => end !== undefined),
  };
};

/** The lowest text above all that start with this one; undefined where there is none. */
const textAfter = (start: string): string | undefined => {
  const characters = [...start];
  while (characters.length > 0) {
    const code = characters.pop()?.codePointAt(0) ?? 0;
    if (code === 0x10ffff) continue;
    const next = code === 0xd7ff ? 0xe000 : code + 1;
    return characters.join('') + String.fromCodePoint(next);
  }
  return undefined;
};

const prefixRange = (text: string): KeyRange => {
  const start = cut(text);
  const after = textAfter(start);
  const end: KeyBound = {
    sign: '<',
    key: after === undefined ? lowestNumber : JSON.stringify(after),
  };
  return { kind: 'between', bounds: [{ sign: '>=', key: JSON.stringify(start) }, end] };
};

/** Where the records are that can pass the test, but for arrays and objects; undefined for anywhere. */
export const testRange = (test: Test): KeyRange | undefined => {
  switch (test.op) {
    case 'eq':
      return { kind: 'points', keys: [slotKey(test.value)] };
    case 'in':
      return { kind: 'points', keys: test.values.map(slotKey) };
    case 'compare':
      return comparedRange(test.sign, test.value);
    case 'text':
      return test.match === 'startsWith' && !test.ignoreCase ? prefixRange(test.text) : undefined;
    default:
      return undefined;
  }
};

/** Whether no other value has the same key. */
export const isWholeKey = (value: Json): boolean =>
  typeof value === 'string'
    ? value.length < maxKeyLength
    : typeof value !== 'object' || value === null;

/** Whether there may be keys in the range that several texts share. */
export const mayHaveCutKeys = (range: KeyRange): boolean => {
  switch (range.kind) {
    case 'all':
    case 'scalars':
      return true;
    case 'points':
      return range.keys.some((key) => typeof key === 'string' && !isWholeKey(key));
    case 'between':
      return range.bounds.some(({ key }) => key.startsWith('"'));
  }
};

/** Whether every record in the range of the test passes it, so that its document need not be read. */
export const isExact = (test: Test): boolean => {
  switch (test.op) {
    case 'eq':
      return isWholeKey(test.value);
    case 'in':
      return test.values.every(isWholeKey);
    case 'compare':
      return isWholeKey(test.value);
    case 'text':
      return test.text.length < maxKeyLength;
    default:
      return false;
  }
};

/** Whether a way is where all the tests' ranges meet: of single keys it has those of one test, whatever others leave of them. */
export const meetInRanges = (tests: readonly Test[]): boolean =>
  tests.length === 1 || tests.every((test) => testRange(test)?.kind === 'between');

const isLower = ({ sign }: KeyBound) => sign.startsWith('>');

/**
 * A lower and an upper bound that leave the same keys as all the tests do, or none where there is no test;
 * undefined where it takes more.
 */
export const simpleBounds = (tests: readonly Test[]): KeyBound[] | undefined => {
  const [first, second, ...others] = tests;
  if (!first) return [];
  if (others.length > 0) return undefined;
  if (second) return comparedBounds(first, second);
  const range = testRange(first);
  if (range?.kind === 'between') return range.bounds.toSorted((a, b) => +isLower(b) - +isLower(a));
  if (range?.kind !== 'points' || range.keys.length !== 1) return undefined;
  const key = JSON.stringify(range.keys[0]);
  return [
    { sign: '>=', key },
    { sign: '<=', key },
  ];
};

/** Of two comparisons that bound values of one type from both sides. */
const comparedBounds = (a: Test, b: Test): KeyBound[] | undefined => {
  if (a.op !== 'compare' || b.op !== 'compare' || typeof a.value !== typeof b.value)
    return undefined;
  const bounds = [a, b].map(({ sign, value }) => ({ sign, key: JSON.stringify(value) }));
  const sides = [bounds.find(isLower), bounds.find((bound) => !isLower(bound))];
  return sides.every((side) => side !== undefined) ? sides : undefined;
};
