import { inCollection } from '../../sql.ts';
import { countDriver, driverSlots, wantedFields } from '../by-index/drivers.ts';
import { slotCountStatement } from '../by-index/slot-statement.ts';
import type { ReadLimits } from '../list-statement.ts';
import { countPiece, countWholePiece, type PieceEnd } from '../piece-statement.ts';
import {
  type IsQuick,
  indexStretch,
  type Pieces,
  type Plan,
  type Queue,
  type Step,
  scanQueue,
  type Unanswered,
} from '../plan.ts';
import { type Selection, scannedField } from '../selection.ts';

export interface Count {
  count: number;
  /** Estimated, because the collection has more records than one count may look through. */
  approximate?: true;
}

const mostIndexKeys = 2_000_000;

/** What the writes have counted, which is exact once those from before were counted too. */
const knownCountText = `SELECT (row_count + (SELECT coalesce(sum(d), 0) FROM count_delta WHERE ${inCollection}))::int8 AS count,
       counted_at IS NOT NULL AS is_exact
     FROM collections WHERE ${inCollection}`;

interface KnownCount {
  count: number;
  is_exact: boolean;
}

const byKey = { kind: 'key', queue: 'index', slots: [], wants: [] } as const;

const planKnown = (
  { collection }: Selection,
  step: Step,
  read: (known: KnownCount) => Count | Unanswered,
  next?: () => Plan<Count>,
): Plan<Count> => ({
  ...step,
  statement: {
    name: 'records_known_count',
    text: knownCountText,
    values: [collection.projectNumber, collection.id],
  },
  read: (row) => read((row as KnownCount | undefined) ?? { count: 0, is_exact: false }),
  next,
});

type ToCount = (total: Count) => Count;

/** Counts all records within the bounds, without the other conditions. */
const planAll = (selection: Selection, step: Step, toCount: ToCount): Plan<Count> => ({
  ...step,
  pieces: {
    of: 'keys',
    most: Number.POSITIVE_INFINITY,
    begin: () => {
      let count = 0;
      return {
        statement: (piece) => countWholePiece(selection, piece),
        add({ looked }) {
          count += looked;
          return false;
        },
        end(isWhole) {
          if (isWhole) return toCount({ count });
          if (selection.filter.bounds.length > 0) return toCount({ count, approximate: true });
          return planKnown(selection, step, (known) =>
            toCount({ count: Math.max(count, known.count), approximate: true }),
          );
        },
      };
    },
  },
});

const filteredPieces = (selection: Selection, { scanRows }: ReadLimits): Pieces<Count> => ({
  of: 'records',
  most: scanRows,
  begin: () => {
    let seen = 0;
    let matching = 0;
    return {
      statement: (piece) => countPiece(selection, piece),
      add(row) {
        seen += row.looked;
        matching += (row as PieceEnd & { matching: number }).matching;
        return false;
      },
      end(isWhole) {
        if (isWhole) return { count: matching };
        if (seen === 0) return 'exceeded';
        return planAll(selection, { ...byKey, kind: 'scan' }, ({ count: total }) => {
          const estimate = Math.round((total * matching) / seen);
          return { count: Math.max(estimate, matching), approximate: true };
        });
      },
    };
  },
});

interface IndexCount {
  count: number;
  unfinished: boolean;
  epoch: number;
}

export const planCount = (
  selection: Selection,
  limits: ReadLimits,
  isQuick: IsQuick,
): Plan<Count> => {
  if (scannedField(selection) === undefined) {
    const all = () => planAll(selection, { ...byKey, queue: scanQueue(isQuick) }, (count) => count);
    if (selection.filter.bounds.length > 0) return all();
    return planKnown(
      selection,
      byKey,
      ({ count, is_exact }) => (is_exact ? { count } : 'unfinished'),
      all,
    );
  }
  const planScan = (queue: Queue): Plan<Count> => ({
    kind: 'scan',
    queue,
    slots: [],
    wants: wantedFields(selection),
    pieces: filteredPieces(selection, limits),
  });
  const driver = countDriver(selection);
  if (!driver) return planScan(scanQueue(isQuick));
  return {
    kind: 'index',
    queue: 'index',
    slots: [...driverSlots(driver)],
    wants: [],
    statement: slotCountStatement(selection, driver, indexStretch, mostIndexKeys),
    read(row) {
      const { count, unfinished, epoch } = row as IndexCount;
      if (epoch !== selection.collection.epoch) return 'stale';
      return unfinished ? 'unfinished' : { count };
    },
    next: () => planScan('scans'),
  };
};
