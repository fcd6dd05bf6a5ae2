import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { uploadNotFound } from '../upload/open-uploads.ts';

/** A process that was killed loses the lock after this; a living one renews in time. */
const leaseMs = 10_000;
const renewMs = 1500;
/** How long a call waits for the lock. */
const maxWaitMs = 5000;
const pollMs = 250;

/** One call at a time works on an upload, in all processes. */
export interface UploadLock {
  /**
   * @param work ends early once `stop` is aborted: another call waits, or the upload is gone
   * @throws ApiError locked, not_found
   */
  run<T>(projectNumber: number, id: string, work: (stop: AbortSignal) => Promise<T>): Promise<T>;
}

export const createUploadLock = (database: Database, now: () => number): UploadLock => {
  const thisUpload = 'WHERE project_number = $1 AND id = $2';
  const leaseEnd = () => new Date(now() + leaseMs);

  const acquire = async (projectNumber: number, id: string, holder: string) => {
    const key = [projectNumber, id];
    for (let waitedMs = 0; ; waitedMs += pollMs) {
      const acquired = await database.query(
        `UPDATE resumable_uploads SET held_by = $3, held_until = $4, is_awaited = false
          ${thisUpload} AND (held_until IS NULL OR held_until <= $5) RETURNING true`,
        [...key, holder, leaseEnd(), new Date(now())],
      );
      if (acquired.length > 0) return;
      const marked = await database.query(
        `UPDATE resumable_uploads SET is_awaited = true ${thisUpload} RETURNING true`,
        key,
      );
      if (marked.length === 0) throw uploadNotFound();
      if (waitedMs >= maxWaitMs)
        throw new ApiError('locked', 'Another call sends to this upload.', {
          retryAfterSeconds: 2,
        });
      await sleep(pollMs);
    }
  };

  const renew = async (held: readonly [number, string, string], stop: AbortController) => {
    const [row] = await database.query<{ is_awaited: boolean }>(
      `UPDATE resumable_uploads SET held_until = $4 ${thisUpload} AND held_by = $3
       RETURNING is_awaited`,
      [...held, leaseEnd()],
    );
    if (!row || row.is_awaited) stop.abort();
  };

  return {
    async run(projectNumber, id, work) {
      const holder = randomUUID();
      const held = [projectNumber, id, holder] as const;
      await acquire(projectNumber, id, holder);
      const stop = new AbortController();
      // Without a renewal the lock may be lost.
      const renewing = setInterval(() => renew(held, stop).catch(() => stop.abort()), renewMs);
      try {
        return await work(stop.signal);
      } finally {
        clearInterval(renewing);
        // Where this fails, the lease runs out.
        await database
          .query(
            `UPDATE resumable_uploads SET held_by = NULL, held_until = NULL
              ${thisUpload} AND held_by = $3`,
            held,
          )
          .catch(() => {});
      }
    },
  };
};
