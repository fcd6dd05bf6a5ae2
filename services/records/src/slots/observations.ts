import { type Database, workLeft } from '@backlot/database';
import { LRUCache } from 'lru-cache';
import { readAcrossProjects } from '../across-projects.ts';
import type { Collection } from '../collections/collections.ts';
import type { Selection } from '../list/selection.ts';
import { inCollection } from '../sql.ts';
import { canHaveSlot, type SlotAssignment } from './assign.ts';
import type { Slot } from './slots.ts';

/** What a process remembers between two reports. */
interface Seen {
  collection: Collection;
  field: string;
  scannedMs: number;
  /** Lists and counts that one statement did not answer. */
  slow: number;
}

export interface Observations {
  /** A list or count has looked through records, for which an index on one of the fields would do. */
  scanned(selection: Selection, fields: readonly string[], scan: Scan): void;
  used(collection: Collection, slot: Slot): void;
  /** Adds what this process has seen to what all have, and assigns slots to the fields that need one. */
  report(): Promise<void>;
}

export interface Scan {
  ms: number;
  isSlow: boolean;
}

export const reportEveryMs = 5000;

/** Between two reports; the least recent ones are forgotten. */
const maxFields = 2000;
const maxUses = 10_000;
/** Of one collection, in a day. */
const maxFieldsOfCollection = 50;

/** A scan of a smaller collection takes no longer than a few milliseconds. */
const leastRecords = 2000;
/** From this size on, one slow list is enough. */
const slowRecords = 20_000;
/** In a day, as many records may be looked at for a field as the collection has, so many times. */
const timesOfSize = 20;
/** What a record costs in a scan. */
const msPerRecord = 0.002;

/** Citus takes parameters in the SELECT alone, and no expression that is not IMMUTABLE. */
const dayBefore = `(excluded.since AT TIME ZONE 'UTC' - interval '1 day') AT TIME ZONE 'UTC'`;

const addSql = `INSERT INTO observations AS o (project_id, coll_id, field, scanned_ms, slow, since)
  SELECT $1, $2, $3, $4::float8, $5::int, $6::timestamptz
  WHERE (SELECT count(*) FROM observations WHERE project_id = $1 AND coll_id = $2 AND field <> $3) < ${maxFieldsOfCollection}
  ON CONFLICT (project_id, coll_id, field) DO UPDATE SET
    scanned_ms = CASE WHEN o.since < ${dayBefore} THEN 0 ELSE o.scanned_ms END + excluded.scanned_ms,
    slow = CASE WHEN o.since < ${dayBefore} THEN 0 ELSE o.slow END + excluded.slow,
    since = CASE WHEN o.since < ${dayBefore} THEN excluded.since ELSE o.since END
  RETURNING scanned_ms, slow`;

const dayMs = 24 * 60 * 60_000;

export interface ObservationDeps {
  database: Database;
  slots: Pick<SlotAssignment, 'observe'>;
  /** Epoch milliseconds. */
  now: () => number;
}

export const createObservations = ({ database, slots, now }: ObservationDeps): Observations => {
  const seen = new LRUCache<string, Seen>({ max: maxFields });
  const uses = new LRUCache<string, { collection: Collection; field: string; count: number }>({
    max: maxUses,
  });
  const keyFor = ({ projectNumber, id }: Collection, field: string) =>
    `${projectNumber} ${id} ${field}`;

  const add = async ({ collection, field, scannedMs, slow }: Seen) => {
    const { projectNumber, id } = collection;
    const [total] = await database.query<{ scanned_ms: number; slow: number }>(addSql, [
      ...[projectNumber, id, field, scannedMs, slow, new Date(now())],
    ]);
    const [size] = await database.query<{ records: number }>(
      `SELECT row_count AS records FROM collections WHERE ${inCollection}`,
      [projectNumber, id],
    );
    const records = size?.records ?? 0;
    if (!total || records < leastRecords) return;
    const isMuch = total.scanned_ms > records * timesOfSize * msPerRecord;
    const isSlow = total.slow > 0 && records >= slowRecords;
    if (isMuch || isSlow) await slots.observe(collection, field);
  };

  const addUses = async () => {
    const counted = [...uses.values()];
    uses.clear();
    for (const { collection, field, count } of counted) {
      await database.query(
        `UPDATE slots SET uses = uses + $4, used_at = $5 WHERE ${inCollection} AND field = $3`,
        [collection.projectNumber, collection.id, field, count, new Date(now())],
      );
    }
  };

  return {
    scanned({ collection }, fields, { ms, isSlow }) {
      const indexed = new Set(
        collection.slots.filter(({ state }) => state !== 'dropping').map(({ field }) => field),
      );
      for (const field of fields) {
        if (indexed.has(field) || !canHaveSlot(field)) continue;
        const key = keyFor(collection, field);
        const { scannedMs = 0, slow = 0 } = seen.get(key) ?? {};
        seen.set(key, {
          ...{ collection, field },
          ...{ scannedMs: scannedMs + ms, slow: slow + Number(isSlow) },
        });
      }
    },
    used(collection, { field }) {
      const key = keyFor(collection, field);
      const use = uses.get(key);
      if (use) use.count += 1;
      else uses.set(key, { collection, field, count: 1 });
    },
    async report() {
      await addUses();
      const reported = [...seen.values()];
      seen.clear();
      for (const one of reported) await add(one);
    },
  };
};

const projectsAtOnce = 1000;

/** Forgets what nobody has scanned for since yesterday. */
export const forgetObservations = async (database: Database, now: () => number) => {
  const before = new Date(now() - dayMs);
  const projects = await readAcrossProjects<{ project: number }>(
    database,
    `SELECT DISTINCT project_id AS project FROM observations WHERE since < $1 LIMIT ${projectsAtOnce}`,
    [before],
  );
  for (const { project } of projects) {
    await database.query('DELETE FROM observations WHERE project_id = $1 AND since < $2', [
      ...[project, before],
    ]);
  }
  return projects.length === projectsAtOnce ? workLeft : undefined;
};
