import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { uploadNotFound } from '../upload/opened.ts';

/** A process that was killed loses its turn after this; a living one renews in time. */
const leaseMs = 10_000;
const renewMs = 1500;
/** How long a call waits for the one in front of it to end. */
const patienceMs = 5000;
const pollMs = 250;

/** One call at a time works on an upload, whatever process it is in. */
export interface Turns {
  /**
   * @param work ends early once `isAwaited` is aborted: another call waits, or the upload is gone
   * @throws ApiError locked, not_found
   */
  take<T>(
    projectNumber: number,
    id: string,
    work: (isAwaited: AbortSignal) => Promise<T>,
  ): Promise<T>;
}

export const createTurns = (database: Database, now: () => number): Turns => {
  const one = 'WHERE project_number = $1 AND id = $2';
  const later = () => new Date(now() + leaseMs);

  const begin = async (projectNumber: number, id: string, holder: string) => {
    const values = [projectNumber, id];
    for (let waited = 0; ; waited += pollMs) {
      const taken = await database.query(
        `UPDATE resumable_uploads SET held_by = $3, held_until = $4, is_awaited = false
          ${one} AND (held_until IS NULL OR held_until <= $5) RETURNING true`,
        [...values, holder, later(), new Date(now())],
      );
      if (taken.length > 0) return;
      const asked = await database.query(
        `UPDATE resumable_uploads SET is_awaited = true ${one} RETURNING true`,
        values,
      );
      if (asked.length === 0) throw uploadNotFound();
      if (waited >= patienceMs)
        throw new ApiError('locked', 'Another call sends to this upload.', {
          retryAfterSeconds: 2,
        });
      await sleep(pollMs);
    }
  };

  const renew = async (mine: readonly [number, string, string], awaited: AbortController) => {
    const [row] = await database.query<{ is_awaited: boolean }>(
      `UPDATE resumable_uploads SET held_until = $4 ${one} AND held_by = $3 RETURNING is_awaited`,
      [...mine, later()],
    );
    if (!row || row.is_awaited) awaited.abort();
  };

  return {
    async take(projectNumber, id, work) {
      const holder = randomUUID();
      const mine = [projectNumber, id, holder] as const;
      await begin(projectNumber, id, holder);
      const awaited = new AbortController();
      // Who can not renew may have lost the turn.
      const renewing = setInterval(
        () => renew(mine, awaited).catch(() => awaited.abort()),
        renewMs,
      );
      try {
        return await work(awaited.signal);
      } finally {
        clearInterval(renewing);
        // What this does not end, ends by itself.
        await database
          .query(
            `UPDATE resumable_uploads SET held_by = NULL, held_until = NULL ${one} AND held_by = $3`,
            mine,
          )
          .catch(() => {});
      }
    },
  };
};
