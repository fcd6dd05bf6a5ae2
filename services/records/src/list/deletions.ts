import type { Database } from '@backlot/database';
import type { FairShares } from '@backlot/fair-shares';
import type { Collections } from '../collections/collections.ts';
import { onCurrentSlots, StaleSlots } from '../collections/current-slots.ts';
import { type FoundInPiece, findInPiece } from '../query/piece-statement.ts';
import { boundsSql, conditionsSql, type Selection } from '../query/selection.ts';
import type { Sort } from '../query/sort.ts';
import type { Reader } from '../reader.ts';
import type { SendChange } from '../record/change/send-change.ts';
import { and, startParameters } from '../sql.ts';
import { usualPieceBounds, usualPieceBytes } from './walk-pieces.ts';

/** One call deletes for so long, and looks at so many records; the next one goes on behind them. */
const workMs = 5000;
const mostLookedAt = 100_000;
const batchRows = 500;

export const oldestFirst: Sort = { fields: [], idDescending: false };

export interface Deleted {
  count: number;
  /** The record with which the next call begins; null where all were looked at. */
  next: string | null;
}

export interface Deletions {
  /** Deletes what fits the selection, in batches, from `from` on. @throws FairShareFull */
  run(selection: Selection, from: string | undefined, reader: Reader): Promise<Deleted>;
}

export interface DeletionsDeps {
  database: Database;
  send: SendChange;
  refresh: Collections['refresh'];
  scans: FairShares;
  batches: FairShares;
  workMs?: number;
}

/** Finds records in short turns among the scans and deletes them in turns among the batches: each is done or not. */
export const createDeletions = (deps: DeletionsDeps): Deletions => {
  const { database, send, refresh, scans, batches } = deps;

  const look = (selection: Selection, from: string | undefined, { requester, signal }: Reader) =>
    scans.run(
      requester,
      async () => {
        const query = {
          ...selection,
          sort: oldestFirst,
          limit: batchRows,
          offset: 0,
          after: undefined,
        };
        const { pieceMs: ms } = usualPieceBounds;
        const bounds = { from, rows: batchRows, bytes: usualPieceBytes, ms };
        const { text, values } = findInPiece(query, bounds, batchRows);
        const [piece] = await database.scan<FoundInPiece>(text, values);
        const { next, looked, kept } = piece ?? { next: null, looked: 0, kept: [] };
        return { next, looked, ids: kept.map(([id]) => id) };
      },
      { signal },
    );

  /** Those of the records that fit still. */
  const deleteBatch = (selection: Selection, ids: readonly string[]) =>
    onCurrentSlots(refresh, selection, (current) =>
      database.transaction(async () => {
        const { collection } = current;
        const parameters = startParameters(collection, ids);
        const fits = and([
          boundsSql(current, parameters),
          'id = ANY ($3::uuid[])',
          ...conditionsSql(current, parameters),
        ]);
        const locked = await database.query<{ id: string }>(
          `SELECT id FROM records WHERE ${fits} ORDER BY id FOR UPDATE`,
          parameters.values,
        );
        if (locked.length === 0) return 0;
        const chosen = locked.map(({ id }) => id);
        const deleted = await send({
          kind: 'delete',
          collection,
          ids: chosen,
          source: current.access.source,
        });
        if (deleted.length === 0) throw new StaleSlots();
        return locked.length;
      }),
    );

  return {
    async run(selection, from, reader) {
      const { requester, signal } = reader;
      const untilMs = performance.now() + (deps.workMs ?? workMs);
      let next: string | null | undefined = from;
      let count = 0;
      let looked = 0;
      do {
        const found = await look(selection, next ?? undefined, reader);
        const { ids } = found;
        if (ids.length > 0)
          await batches.run(
            requester,
            async (yieldSlot) => {
              count += await database.retryLocked(() => deleteBatch(selection, ids), yieldSlot);
            },
            { signal },
          );
        looked += found.looked;
        next = found.next;
      } while (next !== null && performance.now() < untilMs && looked < mostLookedAt);
      return { count, next };
    },
  };
};
