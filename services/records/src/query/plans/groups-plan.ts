import { ApiError, recordRoutes } from '@backlot/contract';
import {
  aggregateByIndex,
  aggregatePiece,
  type FoundGroup,
  type GroupState,
} from '../aggregate/aggregate-statement.ts';
import type { Aggregation } from '../aggregate/aggregation.ts';
import { countDriver, driverSlots, wantedFields } from '../by-index/drivers.ts';
import type { ReadLimits, Stretch } from '../list-statement.ts';
import type { PieceEnd } from '../piece-statement.ts';
import { type IsQuick, type Pieces, type Plan, type Queue, scanQueue } from '../plan.ts';
import type { Selection } from '../selection.ts';

const { maxGroups } = recordRoutes;
/** What sums by an index look through in one statement: first among other short reads, then among the scans. */
const shortStretch = { rows: 20_000, ms: 500 };
const longMs = 800;
/** Of all groups of a call together: those of a scan are kept until its end. */
const maxDistinct = 20_000;

export const namedFields = ({ groups, fields, distinct }: Aggregation): string =>
  JSON.stringify(groups.map(({ name }) => name).join(',') || (fields[0] ?? distinct ?? 'id'));

export const tooManyToGroup = (message: string): ApiError =>
  new ApiError('query_too_expensive', message, {
    hint: 'Narrow it down with "where", for example by "createdAt".',
  });

/** A group with the number of its different values, 0 where nobody asks. */
export interface CountedGroup {
  state: GroupState;
  distinct: number;
}

interface GroupRow<Distinct> {
  groups: FoundGroup<Distinct>[];
  hasLongKeys: boolean;
}

/** A group without what was found of its different values, and this. */
const split = <Distinct>(found: FoundGroup<Distinct>): [GroupState, Distinct] => [
  found.slice(0, -1) as GroupState,
  found.at(-1) as Distinct,
];

/** @throws ApiError invalid_query, query_too_expensive where values make no groups */
const takeGroups = <Distinct>(
  { groups, hasLongKeys }: GroupRow<Distinct>,
  aggregation: Aggregation,
): [GroupState, Distinct][] => {
  const fields = namedFields(aggregation);
  if (hasLongKeys)
    throw new ApiError('invalid_query', `"group": values of ${fields} are longer than 512 bytes`);
  if (groups.length > maxGroups)
    throw tooManyToGroup(`${fields} makes more than ${maxGroups} groups.`);
  return groups.map(split);
};

const checkDistinct = (total: number, { distinct }: Aggregation): void => {
  if (total > maxDistinct)
    throw tooManyToGroup(
      `${JSON.stringify(distinct)} has more than ${maxDistinct} different values in these groups.`,
    );
};

/** The different values of each group, over the pieces of a scan. */
const createDistinctValues = (aggregation: Aggregation) => {
  const valuesOf = new Map<string, Set<string>>();
  let total = 0;
  return {
    /** @throws ApiError query_too_expensive */
    add([group]: GroupState, found: readonly unknown[]): void {
      const key = JSON.stringify(group);
      const values = valuesOf.get(key) ?? new Set();
      valuesOf.set(key, values);
      const before = values.size;
      for (const value of found) values.add(JSON.stringify(value));
      total += values.size - before;
      checkDistinct(total, aggregation);
    },
    count: ([group]: GroupState): number => valuesOf.get(JSON.stringify(group))?.size ?? 0,
  };
};

const takeCounted = (row: GroupRow<number | null>, aggregation: Aggregation): CountedGroup[] => {
  const groups = takeGroups(row, aggregation).map(([state, distinct]) => ({
    state,
    distinct: distinct ?? 0,
  }));
  checkDistinct(
    groups.reduce((total, { distinct }) => total + distinct, 0),
    aggregation,
  );
  return groups;
};

const groupPieces = (
  selection: Selection,
  aggregation: Aggregation,
  { scanRows }: ReadLimits,
): Pieces<CountedGroup[]> => ({
  of: 'records',
  most: scanRows,
  begin: () => {
    let states: GroupState[] = [];
    const distinct = createDistinctValues(aggregation);
    return {
      statement: (piece) => aggregatePiece(selection, piece, aggregation, states, maxGroups),
      add(row) {
        const groups = takeGroups(row as PieceEnd & GroupRow<unknown[] | null>, aggregation);
        states = groups.map(([state]) => state);
        for (const [state, values] of groups) if (values) distinct.add(state, values);
        return false;
      },
      end: (isWhole) =>
        isWhole ? states.map((state) => ({ state, distinct: distinct.count(state) })) : 'exceeded',
    };
  },
});

export const planGroups = (
  selection: Selection,
  aggregation: Aggregation,
  limits: ReadLimits,
  isQuick: IsQuick,
): Plan<CountedGroup[]> => {
  const planScan = (queue: Queue): Plan<CountedGroup[]> => ({
    kind: 'scan',
    queue,
    slots: [],
    wants: wantedFields(selection),
    pieces: groupPieces(selection, aggregation, limits),
  });
  const driver = countDriver(selection);
  if (!driver) return planScan(scanQueue(isQuick));
  const planIndex = (queue: Queue, stretch: Stretch, next: () => Plan<CountedGroup[]>) => ({
    kind: 'index' as const,
    queue,
    slots: [...driverSlots(driver)],
    wants: [],
    next,
    statement: aggregateByIndex(selection, driver, stretch, aggregation, maxGroups),
    read(row: unknown) {
      const found = row as GroupRow<number | null> & { epoch: number; unfinished: boolean };
      if (found.epoch !== selection.collection.epoch) return 'stale' as const;
      return found.unfinished ? ('unfinished' as const) : takeCounted(found, aggregation);
    },
  });
  const long = { rows: limits.scanRows, ms: longMs };
  return planIndex('index', shortStretch, () => planIndex('scans', long, () => planScan('scans')));
};
