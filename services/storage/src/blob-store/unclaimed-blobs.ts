import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { BlobStore } from './blob-store.ts';

/** A process that was killed loses its blobs after this; a living one renews in time. */
const leaseMs = 60_000;
export const renewMs = 15_000;
/** When a blob that the store did not remove is tried again. */
const retryMs = 10 * 60_000;
const batchSize = 200;

/** Blobs that no file has (table `loose_blobs`): each is removed when its lease ends. */
export interface UnclaimedBlobs {
  /** Before the first byte; renewed by this process until the blob is claimed or given up. */
  lease(projectNumber: number, blobKey: string): Promise<void>;
  /** The same for a fixed time, in the surrounding transaction where there is one. */
  leaseFor(projectNumber: number, blobKey: string, ms: number): Promise<void>;
  /** In the transaction that makes their files. @throws ApiError unavailable where a lease is lost */
  claim(projectNumber: number, blobKeys: readonly string[]): Promise<void>;
  /** In the transaction that ends a file or an upload. @param delayMs how long the blob still stays */
  scheduleRemoval(
    projectNumber: number,
    blobKeys: readonly string[],
    delayMs?: number,
  ): Promise<void>;
  /** Removes a leased blob at once, unless a file has claimed it. */
  release(projectNumber: number, blobKey: string): Promise<void>;
  /** Removes at once those of these blobs that no file has claimed. */
  removeUnclaimed(projectNumber: number, blobKeys: readonly string[]): Promise<void>;
  /** Keeps this process's leases alive. */
  renewLeases(): Promise<void>;
  /** Removes the blobs whose lease is over. */
  sweep(): Promise<void>;
}

export const createUnclaimedBlobs = (
  database: Database,
  store: BlobStore,
  now: () => number,
  onError: (error: unknown) => void,
): UnclaimedBlobs => {
  const leased = new Set<string>();
  const inMs = (ms: number) => new Date(now() + ms);

  /**
   * Answers how many rows it took. No file claims a blob that goes, and no transaction waits for the store; where
   * this process is killed meanwhile, the blob's turn comes again.
   */
  const remove = async (condition: string, values: readonly unknown[]) => {
    const rows = await database.query<{ blob_key: string }>(
      `UPDATE loose_blobs SET is_going = true, leased_until = $1
        WHERE blob_key IN (SELECT blob_key FROM loose_blobs WHERE ${condition}
                            ORDER BY leased_until LIMIT ${batchSize} FOR UPDATE SKIP LOCKED)
       RETURNING blob_key`,
      [inMs(leaseMs), ...values],
    );
    if (rows.length === 0) return 0;
    const keys = rows.map((row) => row.blob_key);
    const results = await Promise.allSettled(keys.map((key) => store.remove(key)));
    const removed = keys.filter((_, index) => results[index]?.status === 'fulfilled');
    await database.query('DELETE FROM loose_blobs WHERE blob_key = ANY($1)', [removed]);
    const left = keys.filter((key) => !removed.includes(key));
    if (left.length > 0)
      await database.query('UPDATE loose_blobs SET leased_until = $2 WHERE blob_key = ANY($1)', [
        left,
        inMs(retryMs),
      ]);
    for (const result of results) if (result.status === 'rejected') onError(result.reason);
    return keys.length;
  };

  const leaseFor = async (projectNumber: number, blobKey: string, ms: number) => {
    await database.query(
      'INSERT INTO loose_blobs (blob_key, project_number, leased_until) VALUES ($1, $2, $3)',
      [blobKey, projectNumber, inMs(ms)],
    );
  };

  const removeUnclaimed = async (projectNumber: number, blobKeys: readonly string[]) => {
    for (const blobKey of blobKeys) leased.delete(blobKey);
    // The sweep tries again what fails here.
    await remove('project_number = $2 AND blob_key = ANY($3)', [projectNumber, blobKeys]).catch(
      onError,
    );
  };

  return {
    removeUnclaimed,
    async lease(projectNumber, blobKey) {
      await leaseFor(projectNumber, blobKey, leaseMs);
      leased.add(blobKey);
    },
    leaseFor,
    async claim(projectNumber, blobKeys) {
      const claimed = await database.query(
        `DELETE FROM loose_blobs WHERE project_number = $1 AND blob_key = ANY($2) AND NOT is_going
         RETURNING true`,
        [projectNumber, blobKeys],
      );
      if (claimed.length < blobKeys.length)
        throw new ApiError('unavailable', 'The upload took too long. Try again.', {
          cause: new Error('its lease was lost'),
          retryAfterSeconds: 1,
        });
      database.afterCommit(() => {
        for (const blobKey of blobKeys) leased.delete(blobKey);
      });
    },
    async release(projectNumber, blobKey) {
      if (leased.has(blobKey)) await removeUnclaimed(projectNumber, [blobKey]);
    },
    async scheduleRemoval(projectNumber, blobKeys, delayMs = 0) {
      await database.query(
        `INSERT INTO loose_blobs (blob_key, project_number, leased_until)
         SELECT key, $1, $3 FROM unnest($2::text[]) key
         ON CONFLICT (blob_key) DO UPDATE SET leased_until = excluded.leased_until`,
        [projectNumber, blobKeys, inMs(delayMs)],
      );
    },
    async renewLeases() {
      if (leased.size === 0) return;
      await database.query(
        'UPDATE loose_blobs SET leased_until = $2 WHERE blob_key = ANY($1) AND NOT is_going',
        [[...leased], inMs(leaseMs)],
      );
    },
    async sweep() {
      let taken = batchSize;
      while (taken === batchSize) taken = await remove('leased_until <= $2', [inMs(0)]);
    },
  };
};
