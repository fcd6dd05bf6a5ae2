import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { BlobStore } from './blob-store/blob-store.ts';

/** A process that was killed loses its blobs after this; a living one renews in time. */
const leaseMs = 60_000;
export const renewMs = 15_000;
/** When a blob that the store did not remove is tried again. */
const retryMs = 10 * 60_000;
const batchSize = 200;

export interface LooseBlobs {
  /** From here on the blob goes away by itself, unless a file takes it over. */
  lease(projectNumber: number, blobKey: string): Promise<void>;
  /** The same for a fixed time, in the surrounding transaction where there is one. */
  leaseFor(projectNumber: number, blobKey: string, ms: number): Promise<void>;
  /** In the transaction that makes the file. @throws ApiError unavailable where the lease is lost */
  takeOver(projectNumber: number, blobKey: string): Promise<void>;
  /** In the transaction that ends a file or an upload: its blob goes away, after so long. */
  letGo(projectNumber: number, blobKeys: readonly string[], ms?: number): Promise<void>;
  /** The blobs have been taken over, or are given up: those that no file has are removed at once. */
  settle(projectNumber: number, blobKeys: readonly string[]): Promise<void>;
  /** Keeps this process's leases alive. */
  renew(): Promise<void>;
  /** Removes the blobs whose lease is over. */
  sweep(): Promise<void>;
}

export const createLooseBlobs = (
  database: Database,
  store: BlobStore,
  now: () => number,
  onError: (error: unknown) => void,
): LooseBlobs => {
  const own = new Set<string>();
  const later = (ms: number) => new Date(now() + ms);

  /** Answers how many rows it took. They stay locked, so that no file takes a blob over meanwhile. */
  const remove = (which: string, values: readonly unknown[]) =>
    database.transaction(async () => {
      const rows = await database.query<{ blob_key: string }>(
        `SELECT blob_key FROM loose_blobs WHERE ${which}
          ORDER BY leased_until LIMIT ${batchSize} FOR UPDATE SKIP LOCKED`,
        values,
      );
      const keys = rows.map((each) => each.blob_key);
      const results = await Promise.allSettled(keys.map((key) => store.remove(key)));
      const gone = keys.filter((_, index) => results[index]?.status === 'fulfilled');
      await database.query('DELETE FROM loose_blobs WHERE blob_key = ANY($1)', [gone]);
      await database.query('UPDATE loose_blobs SET leased_until = $2 WHERE blob_key = ANY($1)', [
        keys.filter((key) => !gone.includes(key)),
        later(retryMs),
      ]);
      for (const each of results) if (each.status === 'rejected') onError(each.reason);
      return keys.length;
    });

  const leaseFor = async (projectNumber: number, blobKey: string, ms: number) => {
    await database.query(
      'INSERT INTO loose_blobs (blob_key, project_number, leased_until) VALUES ($1, $2, $3)',
      [blobKey, projectNumber, later(ms)],
    );
  };

  return {
    async lease(projectNumber, blobKey) {
      await leaseFor(projectNumber, blobKey, leaseMs);
      own.add(blobKey);
    },
    leaseFor,
    async takeOver(projectNumber, blobKey) {
      const taken = await database.query(
        'DELETE FROM loose_blobs WHERE project_number = $1 AND blob_key = $2 RETURNING true',
        [projectNumber, blobKey],
      );
      if (taken.length === 0)
        throw new ApiError('unavailable', 'The upload took too long. Try again.', {
          cause: new Error('its lease was lost'),
          retryAfterSeconds: 1,
        });
    },
    async letGo(projectNumber, blobKeys, ms = 0) {
      await database.query(
        `INSERT INTO loose_blobs (blob_key, project_number, leased_until)
         SELECT key, $1, $3 FROM unnest($2::text[]) key
         ON CONFLICT (blob_key) DO UPDATE SET leased_until = excluded.leased_until`,
        [projectNumber, blobKeys, later(ms)],
      );
    },
    async settle(projectNumber, blobKeys) {
      for (const blobKey of blobKeys) own.delete(blobKey);
      // What fails is left to the sweep.
      await remove('project_number = $1 AND blob_key = ANY($2)', [projectNumber, blobKeys]).catch(
        onError,
      );
    },
    async renew() {
      if (own.size === 0) return;
      await database.query('UPDATE loose_blobs SET leased_until = $2 WHERE blob_key = ANY($1)', [
        [...own],
        later(leaseMs),
      ]);
    },
    async sweep() {
      let taken = batchSize;
      while (taken === batchSize) taken = await remove('leased_until <= $1', [later(0)]);
    },
  };
};
