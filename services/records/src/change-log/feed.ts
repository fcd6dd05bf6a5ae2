import type { Database } from '@backlot/database';
import type { Collection } from '../collections/collections.ts';
import { judge, type Told, type Watch } from './judge.ts';
import { readShares } from './known-shares.ts';
import type { LogPosition } from './position.ts';
import { type LogEntry, readLog, readLogEnd } from './read-log.ts';
import { createRests } from './rests.ts';

export interface ToldChange extends Told {
  /** Microseconds since 1970. */
  seq: number;
  id: string;
  /** Epoch milliseconds. */
  changedAt: number;
}

const toTold = ({ position, recordId, changedAt }: LogEntry, told: Told): ToldChange => ({
  seq: position.seq,
  id: recordId,
  changedAt,
  ...told,
});

export interface ChangesPage {
  items: ToldChange[];
  /** Behind what was looked at. */
  end: LogPosition;
  hasMore: boolean;
  /** Entries are gone that stood behind the place. */
  isGone: boolean;
}

/** Entries that one statement and one call look at. */
const pageEntries = 500;
const maxLookedAt = 5000;
/** Behind it no further entries are looked at. */
const workMs = 200;
/** Of the records of a page, as JSON; the last may be larger. */
const maxPageBytes = 1024 * 1024;

/** Whether an entry is of this collection, and not of one that has had its number before. */
export const isOf = ({ id, createdMs = 0 }: Collection, entry: LogEntry): boolean =>
  entry.collectionId === id && entry.changedAt >= createdMs;

const readChanges = async (
  database: Database,
  collection: Collection,
  watch: Watch,
  { after, limit }: { after: LogPosition; limit: number },
): Promise<ChangesPage> => {
  const { projectNumber, id } = collection;
  const { access } = watch;
  const asksShares = access.compiled.uses.shared && access.userId !== null;
  const items: ToldChange[] = [];
  let end = after;
  let bytes = 0;
  const untilMs = performance.now() + workMs;
  const rest = createRests();
  for (let looked = 0; looked < maxLookedAt; looked += pageEntries) {
    const page = await readLog(database, {
      projectNumber,
      after: end,
      collectionIds: [id],
      limit: pageEntries,
    });
    if (page.isGone) return { items, end, hasMore: false, isGone: true };
    const entries = page.entries.filter((entry) => isOf(collection, entry));
    const userIds = asksShares && access.userId !== null ? [access.userId] : [];
    const shares = await readShares(database, projectNumber, entries, userIds);
    for (const entry of entries) {
      await rest();
      const told = judge(watch, entry, shares);
      if (!told) continue;
      items.push(toTold(entry, told));
      bytes += told.record?.length ?? 0;
      if (items.length >= limit || bytes > maxPageBytes)
        return { items, end: entry.position, hasMore: true, isGone: false };
    }
    end = page.end;
    if (!page.hasMore) return { items, end, hasMore: false, isGone: false };
    if (performance.now() > untilMs) break;
  }
  return { items, end, hasMore: true, isGone: false };
};

export interface Feed {
  /** Where who hears of all that is written from now on begins. */
  end(projectNumber: number): Promise<LogPosition>;
  /** What a caller is told behind a place of the log, at most `limit` changes; fewer where much is nothing to them. */
  read(
    collection: Collection,
    watch: Watch,
    from: { after: LogPosition; limit: number },
  ): Promise<ChangesPage>;
}

export const createFeed = (database: Database): Feed => ({
  end: (projectNumber) => readLogEnd(database, projectNumber),
  read: (collection, watch, from) => readChanges(database, collection, watch, from),
});
