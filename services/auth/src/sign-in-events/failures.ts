import type { Database } from '@backlot/database';
import { uuidv7 } from 'uuidv7';

export interface Failure {
  projectNumber: number;
  userId: string;
  /** Epoch milliseconds. */
  at: number;
  detail: string | null;
  device: string | null;
  network: string | null;
}

/** Attempts of one network at one account are one row so long. */
const togetherMs = 3_600_000;
/** Of one account; the oldest go. */
export const maxFailures = 50;
/** Between two writes; what comes past it is not logged. */
const maxNoted = 1000;

/** Failed attempts on their way into the log. */
export const createFailures = (database: Database) => {
  let noted = new Map<string, Failure & { times: number }>();

  const writeOne = (failure: Failure & { times: number }) =>
    database.transaction(async () => {
      const { projectNumber, userId, network, device, detail, times } = failure;
      const at = new Date(failure.at);
      const [user] = await database.query(
        'SELECT FROM users WHERE project_number = $1 AND id = $2 FOR NO KEY UPDATE',
        [projectNumber, userId],
      );
      if (!user) return;
      const updated = await database.query(
        `UPDATE sign_in_events SET times = least(times + $4, 1000000000), last_at = greatest(last_at, $5), device = $6, detail = $7
          WHERE project_number = $1 AND user_id = $2 AND id = (
            SELECT id FROM sign_in_events
             WHERE project_number = $1 AND user_id = $2 AND kind = 'failed' AND network IS NOT DISTINCT FROM $3
               AND created_at > $8
             ORDER BY id DESC LIMIT 1)
         RETURNING 1`,
        [
          projectNumber,
          userId,
          network,
          times,
          at,
          device,
          detail,
          new Date(failure.at - togetherMs),
        ],
      );
      if (updated.length > 0) return;
      await database.query(
        `INSERT INTO sign_in_events (project_number, user_id, id, kind, detail, device, network, times, created_at, last_at)
         VALUES ($1, $2, $3, 'failed', $4, $5, $6, $7, $8, $8)`,
        [projectNumber, userId, uuidv7(), detail, device, network, times, at],
      );
      await database.query(
        `DELETE FROM sign_in_events WHERE project_number = $1 AND user_id = $2 AND id IN (
           SELECT id FROM sign_in_events WHERE project_number = $1 AND user_id = $2 AND kind = 'failed'
            ORDER BY id DESC OFFSET $3)`,
        [projectNumber, userId, maxFailures],
      );
    });

  return {
    note(failure: Failure): void {
      const key = `${failure.projectNumber} ${failure.userId} ${failure.network}`;
      const known = noted.get(key);
      if (!known && noted.size >= maxNoted) return;
      noted.set(key, { ...failure, times: (known?.times ?? 0) + 1 });
    },

    async write(): Promise<void> {
      const failures = noted;
      noted = new Map();
      for (const failure of failures.values())
        await database.inProject(failure.projectNumber, () => writeOne(failure));
    },
  };
};
