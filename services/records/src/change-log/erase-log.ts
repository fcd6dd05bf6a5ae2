import type { Database } from '@backlot/database';

const batchRows = 2000;
const scannedRows = 20_000;

/** Readers who stand before this transaction have to begin anew. */
const raiseFloor = (database: Database, projectNumber: number, xid: string) =>
  database.query(
    `INSERT INTO change_floors AS floors (project_id, xid) VALUES ($1, $2::xid8)
     ON CONFLICT (project_id) DO UPDATE SET xid = greatest(floors.xid, excluded.xid)`,
    [projectNumber, xid],
  );

const deleteBatches = async (
  database: Database,
  projectNumber: number,
  before?: string,
): Promise<void> => {
  for (;;) {
    const gone = await database.query(
      `DELETE FROM changes WHERE project_id = $1 AND ($2::xid8 IS NULL OR xid < $2::xid8) AND xid <= (
         SELECT max(xid) FROM (SELECT xid FROM changes WHERE project_id = $1 ORDER BY xid LIMIT $3) oldest) RETURNING 1`,
      [projectNumber, before ?? null, batchRows],
    );
    if (gone.length === 0) return;
  }
};

/** Deletes the entries of a project before a transaction, in batches; may be repeated. */
export const eraseLogBefore = async (database: Database, projectNumber: number, xid: string) => {
  await raiseFloor(database, projectNumber, xid);
  await deleteBatches(database, projectNumber, xid);
};

/** All that is logged of a project; may be repeated. */
export const eraseLog = async (database: Database, projectNumber: number): Promise<void> => {
  await deleteBatches(database, projectNumber);
  await database.query('DELETE FROM change_floors WHERE project_id = $1', [projectNumber]);
};

/** All of a project's log in parts, whose parameters are project, from and to. */
const inParts = async (
  database: Database,
  projectNumber: number,
  work: (part: [number, string, string]) => Promise<void>,
): Promise<void> => {
  let from = '0';
  for (;;) {
    const [next] = await database.query<{ xid: string | null }>(
      `SELECT max(xid)::text AS xid FROM (
         SELECT xid FROM changes WHERE project_id = $1 AND xid > $2::xid8 ORDER BY xid LIMIT $3) entries`,
      [projectNumber, from, scannedRows],
    );
    if (!next?.xid) return;
    await work([projectNumber, from, next.xid]);
    from = next.xid;
  }
};
const inPart = 'project_id = $1 AND xid > $2::xid8 AND xid <= $3::xid8';

/**
 * Takes a user out of the log: entries of records that were theirs go, of others they have changed it is said no more
 * who has. May be repeated.
 */
export const eraseUserLog = (
  database: Database,
  projectNumber: number,
  userId: string,
): Promise<void> =>
  inParts(database, projectNumber, async (part) => {
    const gone = await database.query(
      `DELETE FROM changes WHERE ${inPart} AND old_owner = $4::uuid RETURNING 1`,
      [...part, userId],
    );
    if (gone.length > 0) await raiseFloor(database, projectNumber, part[2]);
    await database.query(
      `UPDATE changes SET actor = 'platform' WHERE ${inPart} AND actor = 'user:' || $4::uuid`,
      [...part, userId],
    );
  });

/** Puts one user into the place of another, so that the past of a record is its owner's. May be repeated. */
export const moveUserLog = (
  database: Database,
  projectNumber: number,
  from: string,
  to: string,
): Promise<void> =>
  inParts(database, projectNumber, async (part) => {
    await database.query(
      `UPDATE changes SET old_owner = CASE WHEN old_owner = $4::uuid THEN $5::uuid ELSE old_owner END,
          actor = CASE WHEN actor = 'user:' || $4::uuid THEN 'user:' || $5::uuid ELSE actor END,
          old_shares = array_replace(old_shares, $4::uuid, $5::uuid)
        WHERE ${inPart} AND (old_owner = $4::uuid OR actor = 'user:' || $4::uuid OR $4::uuid = ANY (old_shares))`,
      [...part, from, to],
    );
  });
