import { type Database, deleteExpired, type workLeft } from '@backlot/database';
import type { Usage } from './account/ledger-account.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Addresses of visitors are kept no longer. */
export const spendersKeptDays = 30;
/** Of a project, day and kind; those who come later are counted together, under an empty name. */
export const maxSpenders = 1000;

const utcDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);

export interface TopSpender {
  projectId?: string;
  name?: string;
  status?: 'active' | 'paused' | 'deleted';
  ownerId: string | null;
  calls: number;
  millicredits: number;
}

const maxTop = 100;
const topColumns = {
  project: `id AS "projectId", name, CASE WHEN deleted_at IS NULL THEN status ELSE 'deleted' END AS status,
            owner_id AS "ownerId", calls, millicredits
       FROM sums JOIN projects ON number = project_number`,
  owner: `owner_id AS "ownerId", sum(calls)::int8 AS calls, sum(millicredits)::int8 AS millicredits
       FROM sums JOIN projects ON number = project_number GROUP BY owner_id`,
};

export type Spenders = ReturnType<typeof createSpenders>;

/** Who spends an owner's credits, by day; the ledger itself names nobody. */
export const createSpenders = (database: Database, now: () => number) => ({
  /** Belongs into the transaction that books these calls, each of which it counts once. */
  async add(usages: readonly Usage[]): Promise<void> {
    const named = usages.flatMap(({ projectNumber, occurredAt, millicredits, caller, address }) => {
      const line = { project_number: projectNumber, day: utcDay(occurredAt), millicredits };
      return [
        ...(caller === undefined ? [] : [{ ...line, kind: 'caller', name: caller }]),
        ...(address === undefined ? [] : [{ ...line, kind: 'address', name: address }]),
      ];
    });
    if (named.length === 0) return;
    await database.named(
      'add-spenders',
      `WITH given AS (
         SELECT project_number, day, kind, name, count(*) AS calls, sum(millicredits)::int8 AS millicredits
           FROM jsonb_to_recordset($1) AS line (project_number int8, day date, kind text, name text, millicredits int8)
          GROUP BY 1, 2, 3, 4
       ), placed AS (
         SELECT project_number, day, kind, calls, millicredits,
                CASE WHEN EXISTS (SELECT FROM spenders one WHERE one.project_number = given.project_number
                                     AND one.day = given.day AND one.kind = given.kind AND one.name = given.name)
                       OR (SELECT count(*) FROM spenders other WHERE other.project_number = given.project_number
                              AND other.day = given.day AND other.kind = given.kind) < ${maxSpenders}
                     THEN name ELSE '' END AS name
           FROM given
       )
       INSERT INTO spenders (project_number, day, kind, name, calls, millicredits)
       SELECT project_number, day, kind, name, sum(calls), sum(millicredits)
         FROM placed GROUP BY project_number, day, kind, name ORDER BY 1, 2, 3, 4
       ON CONFLICT (project_number, day, kind, name) DO UPDATE
          SET calls = spenders.calls + excluded.calls, millicredits = spenders.millicredits + excluded.millicredits`,
      [JSON.stringify(named)],
    );
  },

  /** The account is erased: its id names nobody. */
  async eraseUser(projectNumber: number, userId: string): Promise<void> {
    await database.query(
      `DELETE FROM spenders WHERE project_number = $1 AND kind = 'caller' AND name = $2`,
      [projectNumber, `user:${userId}`],
    );
  },

  /** What one user has spent another one has. May be repeated. */
  async mergeUser(projectNumber: number, from: string, to: string): Promise<void> {
    await database.query(
      `WITH moved AS (
         DELETE FROM spenders WHERE project_number = $1 AND kind = 'caller' AND name = $2
         RETURNING project_number, day, kind, calls, millicredits)
       INSERT INTO spenders (project_number, day, kind, name, calls, millicredits)
       SELECT project_number, day, kind, $3, calls, millicredits FROM moved ORDER BY day
       ON CONFLICT (project_number, day, kind, name) DO UPDATE
          SET calls = spenders.calls + excluded.calls, millicredits = spenders.millicredits + excluded.millicredits`,
      [projectNumber, `user:${from}`, `user:${to}`],
    );
  },

  async sweep(): Promise<typeof workLeft | undefined> {
    const values = [utcDay(now() - spendersKeptDays * dayMs)];
    return await deleteExpired(database, [{ table: 'spenders', condition: 'day <= $1', values }]);
  },

  /** Of all owners, the dearest first. @param days calendar days (UTC), with today */
  top: (by: 'project' | 'owner', days: number): Promise<TopSpender[]> =>
    database.query<TopSpender>(
      `WITH sums AS (
         SELECT project_number, sum(calls)::int8 AS calls, sum(millicredits)::int8 AS millicredits
           FROM spenders WHERE kind = 'caller' AND day > $1 GROUP BY project_number)
       SELECT ${topColumns[by]} ORDER BY millicredits DESC, calls DESC LIMIT ${maxTop}`,
      [utcDay(now() - days * dayMs)],
    ),
});
