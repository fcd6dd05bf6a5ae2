import { ownerField, type Slot } from '../../collections/stored/slots.ts';
import { isPosition } from '../../fields.ts';
import { type Filter, flattenAnd, type Json, type Test } from '../../where/filter.ts';
import type { ListQuery } from '../list-statement.ts';
import { readFilter } from '../read-filter.ts';
import type { Selection } from '../selection.ts';
import type { Sort } from '../sort.ts';
import {
  isExact,
  type KeyBound,
  type KeyRange,
  markers,
  meetInRanges,
  simpleBounds,
  testRange,
} from './key-ranges.ts';

/** Where in one slot records are. No record is in two of the ranges. */
export interface Way {
  slot: Slot;
  ranges: KeyRange[];
}

/**
 * How to find records by slots. `walk` reads them in the order of the list and ends with the page;
 * `collect` reads the whole ranges.
 */
export interface Driver {
  kind: 'walk' | 'collect';
  /** One, or one for each branch of an `$or`: a record may be on several of these. */
  ways: Way[];
}

export const driverSlots = ({ ways }: Driver): Set<Slot> => new Set(ways.map(({ slot }) => slot));

interface FieldTest {
  field: string;
  test: Test;
}

const ownerTests = ({ ownerId }: Selection): Filter[] =>
  ownerId === undefined
    ? []
    : [{ kind: 'test', field: ownerField, test: { op: 'eq', value: ownerId } }];

/** Scalars pass a test as a whole where they pass it. */
const partKey = (part: Filter): string =>
  JSON.stringify(part.kind === 'test' ? [part.field, part.test] : part);

/** What every record of the selection has to pass. */
const selectionParts = (selection: Selection): Filter[] => {
  const asked = [...selection.filter.conditions, ...ownerTests(selection)];
  const read = readFilter(selection.access);
  if (!read) return asked;
  const known = new Set(asked.map(partKey));
  return [...asked, ...read.parts.filter((part) => !known.has(partKey(part)))];
};

const fieldTests = (parts: readonly Filter[]): FieldTest[] =>
  parts.flatMap((part) => (part.kind === 'test' ? [{ field: part.field, test: part.test }] : []));

/** Whether the tests on the slot's field are all that a record has to pass, and its key tells that of any scalar. */
const isExactFor = (selection: Selection, { field }: Slot, parts: readonly Filter[]) => {
  const { access, groupId } = selection;
  const own = fieldTests(parts).filter((test) => test.field === field);
  return (
    own.length === parts.length &&
    own.every(({ test }) => isExact(test) && testRange(test) !== undefined) &&
    groupId === undefined &&
    (access.rights.read === 'all' || readFilter(access)?.isWhole === true)
  );
};

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
  if (slot.field === ownerField) return [scalars];
  return scalars.kind === 'points' && scalars.keys.length === 0 ? [markers] : [scalars, markers];
};

const uniqueKeys = (keys: readonly Json[]): Json[] =>
  [...new Set(keys.map((key) => JSON.stringify(key)))].map((key) => JSON.parse(key) as Json);

/** Arrays on the way to a nested field have a marker as its key, and no place in a sort by it. */
export const isNested = ({ field }: Slot) => field.includes('.') || isPosition(field);

/** Whether a slot's order is the list's: ties are broken by the id in the field's own direction. */
export const isSlotOrder = ({ fields, idDescending }: Sort) =>
  fields.length === 1 && fields[0]?.descending === idDescending;

const isPoint = (ways: readonly Way[]) =>
  ways.every(({ ranges }) =>
    ranges.every((range) => range.kind === 'points' && range.keys.length === 1),
  );

/** None for a caller from whom fields are hidden: the slots know what these hold. */
const readySlots = ({ collection, access }: Selection): Slot[] =>
  collection.slots.filter(({ state }) => state === 'ready' && access.fields.hidden.length === 0);

/** Of how many values a sample knows at most. */
const sampleRows = 1000;
/** How many records the keys of the ways have, relative to other ways. */
const recordsForKey = (ways: readonly Way[]) =>
  ways.reduce((sum, { slot }) => sum + 1 / Math.max(slot.distinctShare, 1 / sampleRows), 0);

const maxWays = 10;

/** Ways to all records that pass the parts, the likely shortest first. */
const findWays = (parts: readonly Filter[], slots: readonly Slot[]): Way[][] => {
  const tests = fieldTests(parts);
  const bySlot = slots.flatMap((slot) => {
    const ranges = slotRanges(slot, tests);
    return ranges ? [[{ slot, ranges }]] : [];
  });
  const byBranches = parts.flatMap((part) => {
    if (part.kind !== 'or' || part.filters.length === 0) return [];
    const ways = part.filters.map((branch) => findWays(flattenAnd(branch), slots)[0]);
    const all = ways.flatMap((way) => way ?? []);
    return ways.includes(undefined) || all.length > maxWays ? [] : [all];
  });
  return [...bySlot, ...byBranches].sort(
    (a, b) => Number(isPoint(b)) - Number(isPoint(a)) || recordsForKey(a) - recordsForKey(b),
  );
};

/** The ways to find a page, the likely cheapest first; each may turn out to read too much. */
export const listDrivers = (query: ListQuery): Driver[] => {
  const { sort } = query;
  const parts = selectionParts(query);
  const found = findWays(parts, readySlots(query));
  const collect = found.map((ways): Driver => ({ kind: 'collect', ways }));
  if (sort.fields.length === 0) {
    const points = found.filter(isPoint).slice(0, 1);
    return [...points.map((ways): Driver => ({ kind: 'walk', ways })), ...collect.slice(0, 2)];
  }
  const slot = readySlots(query).find(({ field }) => field === sort.fields[0]?.field);
  if (!slot) return collect.slice(0, 2);
  const ranges = slotRanges(slot, fieldTests(parts)) ?? [{ kind: 'all' as const }];
  const walk: Driver = { kind: 'walk', ways: [{ slot, ranges }] };
  // What the walk reads too is no other way.
  const others = collect.filter(
    ({ ways }) => !isSlotOrder(sort) || ways.length > 1 || ways[0]?.slot !== slot,
  );
  const [first] = others;
  if (!first) return [walk];
  return isPoint(first.ways) ? [first, walk] : [walk, first];
};

/** A walk along one stretch of the slot's keys that meets no scalar which does not belong to the list. */
export interface ExactWalk {
  slot: Slot;
  /** A lower and an upper one, or none. */
  bounds: KeyBound[];
  isSorted: boolean;
  /** Whether arrays and objects may belong to the list too, at another place. */
  hasMarkers: boolean;
}

export const exactWalk = (query: ListQuery): ExactWalk | undefined => {
  if (query.filter.bounds.length > 0 || query.until) return undefined;
  const isSorted = query.sort.fields.length > 0;
  if (isSorted && !isSlotOrder(query.sort)) return undefined;
  const [driver] = listDrivers(query);
  const [way] = driver?.ways ?? [];
  if (driver?.kind !== 'walk' || !way) return undefined;
  const { slot, ranges } = way;
  const parts = selectionParts(query);
  if (!isExactFor(query, slot, parts)) return undefined;
  const bounds = simpleBounds(fieldTests(parts).map(({ test }) => test));
  const hasMarkers = ranges.includes(markers) || (isSorted && isNested(slot));
  return bounds && { slot, bounds, isSorted, hasMarkers };
};

export interface CountDriver extends Driver {
  kind: 'collect';
  /** Whether the ranges of scalars are counted without a look at the documents. */
  isExact: boolean;
}

/** The way to count by slots; undefined where there is none. */
export const countDriver = (selection: Selection): CountDriver | undefined => {
  const parts = selectionParts(selection);
  const [ways] = findWays(parts, readySlots(selection));
  const [first, ...others] = ways ?? [];
  if (!ways || !first) return undefined;
  const isExact =
    others.length === 0 &&
    isExactFor(selection, first.slot, parts) &&
    meetInRanges(fieldTests(parts).map(({ test }) => test));
  return { kind: 'collect', ways, isExact };
};

/** The fields for which a list or count looks through records, where indexes on them would do. */
export const wantedFields = (selection: Selection, sort?: Sort): string[] => {
  const [first] = sort?.fields ?? [];
  const wanted = [...testedFields(selectionParts(selection)), ...(first ? [first.field] : [])];
  // These are the primary key's.
  return [...new Set(wanted)].filter((field) => field !== 'id' && field !== 'createdAt');
};

const testedFields = (parts: readonly Filter[]): string[] =>
  parts.flatMap((part) => {
    if (part.kind === 'test') return testRange(part.test) === undefined ? [] : [part.field];
    if (part.kind !== 'or') return [];
    const branches = part.filters.map((branch) => testedFields(flattenAnd(branch)));
    return branches.some((fields) => fields.length === 0) ? [] : branches.flat();
  });
