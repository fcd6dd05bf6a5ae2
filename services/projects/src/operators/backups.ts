import type { KnownBackup, operatorRoutes, RouteBody } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { type Finding, shareLook } from '@backlot/http';

export type ToldBackup = RouteBody<typeof operatorRoutes.noteBackup>;

export interface BackupsDeps {
  database: Database;
  /** After so long without a new one Health warns; 0: never. */
  dueHours: number;
  now: () => number;
}

interface Row {
  id: string;
  began_at: Date;
  ended_at: Date;
  release: string;
  size_bytes: number;
  rows: number;
  files: number;
  lost_files: number;
  place: string;
  key_ids: string[];
  noted_by: string;
  verified_at: Date | null;
  verified_by: string | null;
}

const mostKept = 100;
const hourMs = 3_600_000;
const lookEveryMs = 10_000;

const present = (row: Row): KnownBackup => ({
  id: row.id,
  beganAt: row.began_at.toISOString(),
  endedAt: row.ended_at.toISOString(),
  release: row.release,
  sizeBytes: row.size_bytes,
  rows: row.rows,
  files: row.files,
  lostFiles: row.lost_files,
  place: row.place,
  keyIds: row.key_ids,
  notedBy: row.noted_by,
  verifiedAt: row.verified_at?.toISOString() ?? null,
  verifiedBy: row.verified_by,
});

export type Backups = ReturnType<typeof createBackups>;

/** Back-ups of the whole that somebody told of: where none is made any more, operators see it. */
export const createBackups = ({ database, dueHours, now }: BackupsDeps) => {
  const newest = (count: number) =>
    database.query<Row>('SELECT * FROM backups ORDER BY began_at DESC, id LIMIT $1', [count]);

  /** Undefined where none is known yet: that is for the operator's list to say. */
  const overdueAt = async (): Promise<Date | undefined> => {
    const [last] = await newest(1);
    return last && dueHours > 0 ? new Date(last.began_at.getTime() + dueHours * hourMs) : undefined;
  };

  return {
    async list() {
      const [items, due] = await Promise.all([newest(mostKept), overdueAt()]);
      return {
        items: items.map(present),
        hasMore: false,
        nextCursor: null,
        overdueAt: due?.toISOString() ?? null,
      };
    },

    /** Told again it is the same one; what was verified stays so. */
    note: (id: string, told: ToldBackup, by: string): Promise<KnownBackup> =>
      database.transaction(async () => {
        const verified = told.isVerified ? [new Date(now()), by] : [null, null];
        const [row] = await database.query<Row>(
          `INSERT INTO backups VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
           ON CONFLICT (id) DO UPDATE SET place = EXCLUDED.place,
             verified_at = coalesce(EXCLUDED.verified_at, backups.verified_at),
             verified_by = coalesce(EXCLUDED.verified_by, backups.verified_by)
           RETURNING *`,
          [
            id,
            told.beganAt,
            told.endedAt,
            told.release,
            told.sizeBytes,
            told.rows,
            told.files,
            told.lostFiles,
            told.place,
            told.keyIds,
            by,
            ...verified,
          ],
        );
        if (!row) throw new Error('A back-up was not noted.');
        await database.query(
          `DELETE FROM backups WHERE id IN (
             SELECT id FROM backups ORDER BY began_at DESC, id OFFSET ${mostKept})`,
        );
        return present(row);
      }),

    find: shareLook(
      async (): Promise<Finding | undefined> => {
        const due = await overdueAt();
        if (due === undefined) return undefined;
        return due.getTime() > now()
          ? { name: 'backups', state: 'works' }
          : { name: 'backups', state: 'degraded', reason: 'overdue' };
      },
      now,
      lookEveryMs,
    ),
  };
};
