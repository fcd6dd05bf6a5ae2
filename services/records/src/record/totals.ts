import type { Database, TransactionOptions } from '@backlot/database';

/** What records add up to. The size is that of the documents as JSON, as PostgreSQL writes it. */
export interface Totals {
  records: number;
  bytes: number;
}

export interface ProjectTotals {
  project: Totals;
  /** Of all projects of the owner; null where the project has none. */
  owner: Totals | null;
}

export const foldEveryMs = 2000;

/** Most rows of count_delta that one statement adds up. */
const foldRows = 20_000;

/** Folds and first counts run one at a time, in one process of all. */
const lockKey = `hashtextextended('records totals', 0)`;

/** Waits for the fold under way; until the end of the transaction no other one begins. */
export const lockTotals = (database: Database) =>
  database.query(`SELECT pg_advisory_xact_lock(${lockKey})`);

const countTimeoutMs = 600_000;

/** Runs `work` in a transaction unless another process is at it. */
const runAlone = <T>(
  database: Database,
  work: () => Promise<T>,
  options?: TransactionOptions,
): Promise<T | undefined> =>
  database.transaction(async () => {
    const [lock] = await database.query<{ free: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${lockKey}) AS free`,
    );
    return lock?.free ? work() : undefined;
  }, options);

const addToTotals = `INSERT INTO totals (project_id, records, bytes)
  SELECT project_id, sum(records), sum(bytes) FROM changed GROUP BY project_id
  ON CONFLICT (project_id) DO UPDATE
    SET records = totals.records + excluded.records, bytes = totals.bytes + excluded.bytes`;

/** Adds what writes have counted to the totals and forgets it, in one statement: a crash loses nothing. */
export const foldTotals = async (database: Database): Promise<void> => {
  const fold = async () => {
    const [taken] = await database.query<{ rows: number }>(
      `WITH taken AS (
         DELETE FROM count_delta WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM count_delta delta WHERE NOT EXISTS (
             SELECT FROM collections c WHERE c.project_id = delta.project_id AND c.coll_id = delta.coll_id AND counted_at IS NULL)
           LIMIT $1))
         RETURNING project_id, coll_id, d, bytes),
       delta AS (
         SELECT project_id, coll_id, sum(d) AS records, sum(bytes) AS bytes FROM taken GROUP BY 1, 2),
       changed AS (
         UPDATE collections c SET row_count = row_count + delta.records, byte_count = byte_count + delta.bytes
         FROM delta WHERE c.project_id = delta.project_id AND c.coll_id = delta.coll_id
         RETURNING c.project_id, delta.records, delta.bytes),
       added AS (${addToTotals})
       SELECT count(*) AS rows FROM taken`,
      [foldRows],
    );
    return taken?.rows ?? 0;
  };
  while ((await runAlone(database, fold)) === foldRows);
};

/**
 * Counts one collection for each statement: those from before their writes were counted, and every one
 * again each week, so that what a restored backup or a statement by hand has changed comes in. What the
 * writes have counted by then is in the same snapshot, so that it is forgotten. The first count is
 * repeated after an hour: while an update rolls out, processes of the version before don't count.
 */
export const countCollections = async (database: Database): Promise<void> => {
  const countNext = async () => {
    const [next] = await database.query<{ project_id: number; coll_id: number }>(
      `SELECT project_id, coll_id FROM collections
       WHERE counted_at IS NULL OR counted_at < now() - interval '7 days' LIMIT 1`,
    );
    if (!next) return false;
    await database.query(
      `WITH forgotten AS (DELETE FROM count_delta WHERE project_id = $1 AND coll_id = $2),
       counted AS (
         SELECT count(*) AS records, coalesce(sum(size_bytes), 0) AS bytes
         FROM records WHERE project_id = $1 AND coll_id = $2),
       changed AS (
         UPDATE collections SET row_count = counted.records, byte_count = counted.bytes,
           counted_at = CASE WHEN counted_at IS NULL THEN now() - interval '6 days 23 hours' ELSE now() END
         FROM counted WHERE project_id = $1 AND coll_id = $2
         RETURNING project_id, new.row_count - old.row_count AS records, new.byte_count - old.byte_count AS bytes)
       ${addToTotals}`,
      [next.project_id, next.coll_id],
    );
    return true;
  };
  while (await runAlone(database, countNext, { statementTimeoutMs: countTimeoutMs }));
};

const totalsSql = (projects: string) => `SELECT greatest(0, sum(records))::int8 AS records,
  greatest(0, sum(bytes))::int8 AS bytes FROM (
    SELECT records, bytes FROM totals WHERE project_id IN (${projects})
    UNION ALL
    SELECT d, bytes FROM count_delta WHERE project_id IN (${projects})) amounts`;

/** What has been committed by now, folded or not; remembers whose project it is. */
export const readTotals = async (
  database: Database,
  { number, ownerId }: { number: number; ownerId: string | null },
): Promise<ProjectTotals> => {
  const none: Totals = { records: 0, bytes: 0 };
  const [project] = await database.query<Totals & { owner_id: string | null }>(
    `SELECT project.*, (SELECT owner_id FROM totals WHERE project_id = $1)
     FROM (${totalsSql('SELECT $1::int8')}) project`,
    [number],
  );
  const { records, bytes } = project ?? none;
  if (ownerId !== (project?.owner_id ?? null)) {
    await database.query(
      `INSERT INTO totals (project_id, owner_id) VALUES ($1, $2)
       ON CONFLICT (project_id) DO UPDATE SET owner_id = excluded.owner_id`,
      [number, ownerId],
    );
  }
  if (ownerId === null) return { project: { records, bytes }, owner: null };
  const [owner] = await database.query<Totals>(
    totalsSql('SELECT project_id FROM totals WHERE owner_id = $1'),
    [ownerId],
  );
  return { project: { records, bytes }, owner: owner ?? none };
};
