import { type Database, DatabaseUnavailable, type TransactionOptions } from '@backlot/database';
import { readAcrossProjects } from '../../across-projects.ts';
import { inCollection } from '../../sql.ts';
import { sideBytesSql } from '../change/side-effects.ts';

/** What records add up to: the documents as JSON, as PostgreSQL writes it, and what is kept beside them. */
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

const foldRows = 20_000;

const foldProjects = 100;

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

const addToTotals = async (database: Database, project: number, { records, bytes }: Totals) => {
  await database.query(
    `INSERT INTO totals (project_id, records, bytes) VALUES ($1, $2, $3)
     ON CONFLICT (project_id) DO UPDATE
       SET records = totals.records + excluded.records, bytes = totals.bytes + excluded.bytes`,
    [project, records, bytes],
  );
};

const selectUnfolded = `SELECT DISTINCT project_id FROM (
  SELECT project_id FROM count_delta delta WHERE NOT EXISTS (
    SELECT FROM collections c WHERE c.project_id = delta.project_id AND c.coll_id = delta.coll_id AND c.counted_at IS NULL)
  LIMIT $1) unfolded`;

const foldSql = `WITH taken AS (
    DELETE FROM count_delta WHERE project_id = $1 AND ctid = ANY (ARRAY(
      SELECT delta.ctid FROM count_delta delta WHERE delta.project_id = $1 AND NOT EXISTS (
        SELECT FROM collections c WHERE c.project_id = $1 AND c.coll_id = delta.coll_id AND c.counted_at IS NULL)
      LIMIT $2))
    RETURNING coll_id, d, bytes),
  delta AS (
    SELECT coll_id, sum(d)::int8 AS records, sum(bytes)::int8 AS bytes FROM taken GROUP BY 1),
  changed AS (
    UPDATE collections c SET row_count = row_count + delta.records, byte_count = byte_count + delta.bytes
    FROM delta WHERE c.project_id = $1 AND c.coll_id = delta.coll_id
    RETURNING delta.records, delta.bytes)
  SELECT coalesce(sum(records), 0)::int8 AS records, coalesce(sum(bytes), 0)::int8 AS bytes,
    (SELECT count(*) FROM taken) AS rows FROM changed`;

/** Adds what writes have counted to the totals and forgets it, in one transaction: a crash loses nothing. */
export const foldTotals = async (database: Database): Promise<void> => {
  const fold = async () => {
    const unfolded = await readAcrossProjects<{ project_id: number }>(database, selectUnfolded, [
      foldRows,
    ]);
    let isOver = unfolded.length <= foldProjects;
    for (const { project_id: project } of unfolded.slice(0, foldProjects)) {
      const [sum] = await database.query<Totals & { rows: number }>(foldSql, [project, foldRows]);
      if (!sum) continue;
      await addToTotals(database, project, sum);
      isOver &&= sum.rows < foldRows;
    }
    return isOver;
  };
  while ((await runAlone(database, fold)) === false);
};

/**
 * Counts one collection in each transaction: those from before writes were counted, again after an hour because of
 * processes of that version, and every one each week, for what a restored backup or a statement by hand has changed.
 */
export const countCollections = async (database: Database): Promise<void> => {
  const countNext = async () => {
    const [next] = await readAcrossProjects<{ project_id: number; coll_id: number }>(
      database,
      `SELECT project_id, coll_id FROM collections
       WHERE counted_at IS NULL OR counted_at < now() - interval '7 days' LIMIT 1`,
    );
    if (!next) return false;
    const key = [next.project_id, next.coll_id];
    const [growth] = await database.query<Totals>(countSql, key);
    if (growth) await addToTotals(database, next.project_id, growth);
    return true;
  };
  while (await runAlone(database, countNext, { statementTimeoutMs: countTimeoutMs }));
};

const countSql = `WITH forgotten AS (DELETE FROM count_delta WHERE ${inCollection}),
  counted AS (
    SELECT count(*) AS records, coalesce(sum(size_bytes), 0) + ${sideBytesSql('$2')} AS bytes,
      now() AS at, now() - interval '6 days 23 hours' AS first_at
    FROM records WHERE ${inCollection})
  UPDATE collections SET row_count = counted.records, byte_count = counted.bytes,
    counted_at = CASE WHEN counted_at IS NULL THEN counted.first_at ELSE counted.at END
  FROM counted WHERE ${inCollection}
  RETURNING new.row_count - old.row_count AS records, new.byte_count - old.byte_count AS bytes`;

/** Both tables in one statement: a fold that commits at that moment is seen in both or in neither. */
const totalsSql = (isAmong: string) => `SELECT greatest(0, sum(records))::int8 AS records,
  greatest(0, sum(bytes))::int8 AS bytes FROM (
    SELECT project_id, records, bytes FROM totals WHERE project_id ${isAmong}
    UNION ALL
    SELECT project_id, d, bytes FROM count_delta WHERE project_id ${isAmong}) amounts`;

const none: Totals = { records: 0, bytes: 0 };
const plus = (a: Totals, b: Totals): Totals => ({
  records: a.records + b.records,
  bytes: a.bytes + b.bytes,
});

/** What projects add up to; undefined where a node is out of reach that has one of them. */
const readTogether = async (
  database: Database,
  projects: readonly number[],
): Promise<Totals | undefined> => {
  if (projects.length === 0) return none;
  const text = totalsSql('= ANY ($1::int8[])');
  try {
    const [totals = none] = await readAcrossProjects<Totals>(database, text, [projects]);
    return totals;
  } catch (error) {
    if (error instanceof DatabaseUnavailable) return undefined;
    throw error;
  }
};

/** Of the project, as far as a call has told it. */
export const readOwner = async (database: Database, project: number): Promise<string | null> => {
  const [row] = await database.query<{ owner_id: string | null }>(
    'SELECT owner_id FROM project_owners WHERE project_id = $1',
    [project],
  );
  return row?.owner_id ?? null;
};

const ownerSql = `INSERT INTO project_owners (project_id, owner_id) VALUES ($1, $2)
  ON CONFLICT (project_id) DO UPDATE SET owner_id = excluded.owner_id`;

/**
 * What has been committed by now, folded or not; remembers whose project it is.
 * @param earlier what the owner's other projects added up to when they were read before: they count as that while
 * a node is out of reach that has one of them
 */
export const readTotals = async (
  database: Database,
  { number, ownerId }: { number: number; ownerId: string | null },
  earlier = none,
): Promise<ProjectTotals> => {
  const [project = none] = await database.query<Totals>(totalsSql('= $1'), [number]);
  const known = await database.query<{ project_id: number; owner_id: string | null }>(
    'SELECT project_id, owner_id FROM project_owners WHERE project_id = $1 OR owner_id = $2',
    [number, ownerId],
  );
  const owner = known.find((row) => row.project_id === number)?.owner_id ?? null;
  if (ownerId !== owner) await database.query(ownerSql, [number, ownerId]);
  if (ownerId === null) return { project, owner: null };
  const others = known.map((row) => row.project_id).filter((id) => id !== number);
  const together = (await readTogether(database, others)) ?? earlier;
  return { project, owner: plus(project, together) };
};
