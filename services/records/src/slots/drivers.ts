import { isPosition } from '../fields.ts';
import type { ListQuery } from '../list/list-statement.ts';
import type { Selection } from '../list/selection.ts';
import type { Sort } from '../list/sort.ts';
import type { Filter, Json, Test } from '../where/filter.ts';
import { ownerField, type Slot } from './slots.ts';

/** Keys of a slot that are next to each other in its index, or single ones. */
export type KeyRange =
  | { kind: 'all' }
  | { kind: 'points'; keys: Json[] }
  | { kind: 'between'; bounds: KeyBound[] };

export interface KeyBound {
  sign: '>' | '>=' | '<' | '<=';
  /** JSON text, because no double is as low as the bound of all numbers. */
  key: string;
}

/**
 * One way to find records by a slot. `walk` reads them in the order of the list and ends with the page;
 * `collect` reads the whole ranges.
 */
export interface Driver {
  kind: 'walk' | 'collect';
  slot: Slot;
  /** No record is in two of them. */
  ranges: KeyRange[];
}

/** The key of arrays and objects: what a condition finds in them is looked up in the document. */
export const markerKey: Json = [];
const markers: KeyRange = { kind: 'points', keys: [markerKey] };

/** Longest string that a key holds whole, in characters. */
export const maxKeyLength = 128;

const cut = (text: string): string =>
  text.length <= maxKeyLength ? text : [...text].slice(0, maxKeyLength).join('');

/** As `slot_key` makes it. */
const slotKey = (value: Json): Json => {
  if (typeof value === 'object' && value !== null) return markerKey;
  return typeof value === 'string' ? cut(value) : value;
};

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
const testRange = (test: Test): KeyRange | undefined => {
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

/** Whether every record in the range of the test passes it, so that its document need not be read. */
const isExact = (test: Test): boolean => {
  const isWhole = (value: Json) =>
    typeof value === 'string'
      ? value.length < maxKeyLength
      : typeof value !== 'object' || value === null;
  switch (test.op) {
    case 'eq':
      return isWhole(test.value);
    case 'in':
      return test.values.every(isWhole);
    case 'compare':
      return isWhole(test.value);
    case 'text':
      return test.text.length < maxKeyLength;
    default:
      return false;
  }
};

/** A test that all records of a selection have to pass. */
interface FieldTest {
  field: string;
  test: Test;
}

const readsOwnOnly = ({ rights: { read } }: Selection['access']): boolean =>
  Array.isArray(read) && read.length === 1 && read[0] === 'owner';

/** Of the user to whom `mine` or the access narrows the selection. */
const ownerTests = ({ access, ownerId }: Selection): FieldTest[] => {
  const owners = [ownerId, readsOwnOnly(access) ? access.userId : undefined];
  return owners.flatMap((value) =>
    value ? [{ field: ownerField, test: { op: 'eq', value } as const }] : [],
  );
};

const fieldTests = (selection: Selection): FieldTest[] => [
  ...selection.filter.conditions.flatMap((condition: Filter) =>
    condition.kind === 'test' ? [{ field: condition.field, test: condition.test }] : [],
  ),
  ...ownerTests(selection),
];

const pointsFirst = (a: KeyRange, b: KeyRange) =>
  Number(b.kind === 'points') - Number(a.kind === 'points') ||
  (a.kind === 'points' && b.kind === 'points' ? a.keys.length - b.keys.length : 0);

/** What the tests on the slot's field leave of it; undefined where they leave all. */
const slotRanges = (slot: Slot, tests: readonly FieldTest[]): KeyRange[] | undefined => {
  const own = tests
    .filter(({ field }) => field === slot.field)
    .map(({ test }) => testRange(test))
    .filter((range) => range !== undefined)
    .sort(pointsFirst);
  const [first] = own;
  if (!first) return undefined;
  const scalars: KeyRange =
    first.kind === 'points'
      ? { kind: 'points', keys: uniqueKeys(first.keys.filter((key) => !Array.isArray(key))) }
      : {
          kind: 'between',
          bounds: own.flatMap((range) => (range.kind === 'between' ? range.bounds : [])),
        };
  // An owner is no array.
  const ranges = slot.field === ownerField ? [scalars] : [scalars, markers];
  return ranges.filter((range) => range.kind !== 'points' || range.keys.length > 0);
};

const uniqueKeys = (keys: readonly Json[]): Json[] =>
  [...new Set(keys.map((key) => JSON.stringify(key)))].map((key) => JSON.parse(key) as Json);

/** Whether the slot's order is the one that the field is sorted by: of nested arrays it knows no values. */
const hasSortOrder = ({ field }: Slot) => !field.includes('.') && !isPosition(field);

const isPoint = (ranges: readonly KeyRange[]) =>
  ranges.every((range) => range.kind === 'points' && range.keys.length === 1);

/** None for a caller from whom fields are hidden: the slots know what these hold. */
const readySlots = ({ collection, access }: Selection): Slot[] =>
  collection.slots
    .filter(({ state }) => state === 'ready' && access.fields.hidden.length === 0)
    .sort((a, b) => b.distinctShare - a.distinctShare);

/** The ways to find a page, the likely cheapest first; each may turn out to read too much. */
export const listDrivers = (query: ListQuery): Driver[] => {
  const tests = fieldTests(query);
  const ranged = readySlots(query).flatMap((slot) => {
    const ranges = slotRanges(slot, tests);
    return ranges ? [{ slot, ranges }] : [];
  });
  const points = ranged.filter(({ ranges }) => isPoint(ranges));
  const others = ranged.filter((driver) => !points.includes(driver));
  const collect = [...points, ...others].map((way) => ({ kind: 'collect' as const, ...way }));
  if (query.sort.fields.length === 0) {
    return [
      ...points.map((way) => ({ kind: 'walk' as const, ...way })).slice(0, 1),
      ...collect.slice(0, 2),
    ];
  }
  const [first] = query.sort.fields;
  const sorted = readySlots(query).find(
    (slot) => slot.field === first?.field && hasSortOrder(slot),
  );
  if (!sorted || query.sort.fields.length > 1) return collect.slice(0, 2);
  const ranges = slotRanges(sorted, tests) ?? [{ kind: 'all' as const }];
  const walk: Driver = { kind: 'walk', slot: sorted, ranges };
  return [
    ...collect
      .filter(({ slot }) => slot !== sorted && points.some((p) => p.slot === slot))
      .slice(0, 1),
    walk,
  ];
};

export interface CountDriver extends Driver {
  kind: 'collect';
  /** Which of the ranges are counted without a look at the documents. */
  exact: boolean[];
}

/** The way to count by a slot; undefined where there is none. */
export const countDriver = (selection: Selection): CountDriver | undefined => {
  const tests = fieldTests(selection);
  const [first] = readySlots(selection).flatMap((slot) => {
    const ranges = slotRanges(slot, tests);
    return ranges ? [{ slot, ranges }] : [];
  });
  if (!first) return undefined;
  const own = tests.filter(({ field }) => field === first.slot.field);
  const isWhole =
    own.length === 1 &&
    own.every(({ test }) => isExact(test)) &&
    selection.filter.conditions.length + ownerTests(selection).length === 1 &&
    (selection.access.rights.read === 'all' || readsOwnOnly(selection.access));
  const exact = first.ranges.map((range) => isWhole && range !== markers);
  return { kind: 'collect', ...first, exact };
};

/** The fields for which a list or count looks through records, where an index on one would do. */
export const wantedFields = (selection: Selection, sort?: Sort): string[] => {
  const tested = fieldTests(selection)
    .filter(({ test }) => testRange(test) !== undefined)
    .map(({ field }) => field);
  const [first, ...others] = sort?.fields ?? [];
  const sorted = first && others.length === 0 && !first.field.includes('.') ? [first.field] : [];
  return [...new Set([...tested, ...sorted])];
};
