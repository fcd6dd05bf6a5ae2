import { ApiError, recordRoutes } from '@backlot/contract';
import { aggregateByIndex, aggregateSlice, type GroupState } from '../aggregate-statement.ts';
import type { Aggregation } from '../aggregation.ts';
import { countDriver, driverSlots, wantedFields } from '../by-index/drivers.ts';
import type { ReadLimits, Stretch } from '../list-statement.ts';
import {
  type IsQuick,
  type PieceEnd,
  type Pieces,
  type Plan,
  type Queue,
  scanQueue,
} from '../plan.ts';
import type { Selection } from '../selection.ts';

const { maxGroups } = recordRoutes;
/** What sums by an index look through in one statement: first among other short reads, then among the scans. */
const shortStretch = { rows: 20_000, ms: 500 };
const longMs = 800;

/** The field that an error names. */
const namedField = ({ group, fields }: Aggregation): string =>
  JSON.stringify(group ?? fields[0] ?? 'id');

export const tooManyToGroup = (message: string): ApiError =>
  new ApiError('query_too_expensive', message, {
    hint: 'Narrow it down with "where", for example by "createdAt".',
  });

interface GroupRow {
  groups: GroupState[];
  hasLongKeys: boolean;
}

/** @throws ApiError invalid_query, query_too_expensive where values make no groups */
const takeGroups = ({ groups, hasLongKeys }: GroupRow, aggregation: Aggregation): GroupState[] => {
  const field = namedField(aggregation);
  if (hasLongKeys)
    throw new ApiError('invalid_query', `"group": values of ${field} are longer than 512 bytes`);
  if (groups.length > maxGroups)
    throw tooManyToGroup(`The field ${field} has more than ${maxGroups} values.`);
  return groups;
};

const groupPieces = (
  selection: Selection,
  aggregation: Aggregation,
  { scanRows }: ReadLimits,
): Pieces<GroupState[]> => ({
  of: 'records',
  most: scanRows,
  begin: () => {
    let states: GroupState[] = [];
    return {
      statement: (slice) => aggregateSlice(selection, slice, aggregation, states, maxGroups),
      add(row) {
        states = takeGroups(row as PieceEnd & GroupRow, aggregation);
        return false;
      },
      end: (isWhole) => (isWhole ? states : 'exceeded'),
    };
  },
});

export const planGroups = (
  selection: Selection,
  aggregation: Aggregation,
  limits: ReadLimits,
  isQuick: IsQuick,
): Plan<GroupState[]> => {
  const planScan = (queue: Queue): Plan<GroupState[]> => ({
    kind: 'scan',
    queue,
    slots: [],
    wants: wantedFields(selection),
    pieces: groupPieces(selection, aggregation, limits),
  });
  const driver = countDriver(selection);
  if (!driver) return planScan(scanQueue(isQuick));
  const planIndex = (queue: Queue, stretch: Stretch, next: () => Plan<GroupState[]>) => ({
    kind: 'index' as const,
    queue,
    slots: [...driverSlots(driver)],
    wants: [],
    next,
    statement: aggregateByIndex(selection, driver, stretch, aggregation, maxGroups),
    read(row: unknown) {
      const found = row as GroupRow & { epoch: number; unfinished: boolean };
      if (found.epoch !== selection.collection.epoch) return 'stale' as const;
      return found.unfinished ? ('unfinished' as const) : takeGroups(found, aggregation);
    },
  });
  const long = { rows: limits.scanRows, ms: longMs };
  return planIndex('index', shortStretch, () => planIndex('scans', long, () => planScan('scans')));
};
