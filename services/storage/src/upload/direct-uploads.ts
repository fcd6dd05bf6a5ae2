import { randomUUID } from 'node:crypto';
import { ApiError, type Visibility } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { BlobNotFound, type BlobStore } from '../blob-store/blob-store.ts';
import type { LooseBlobs } from '../loose-blobs.ts';
import type { Caps } from './caps.ts';
import { cleanFileName } from './file-name.ts';
import { arrived, findOpened, maxOpen, ownerOf, tooManyOpen, uploadNotFound } from './opened.ts';
import type { Upload } from './uploads.ts';

export interface Announced {
  name: string;
  size: number;
  visibility: Visibility;
}

export interface Slip {
  id: string;
  url: string;
  fields: Record<string, string>;
  expiresAt: Date;
}

export interface DirectUploadsDeps {
  database: Database;
  store: BlobStore;
  looseBlobs: LooseBlobs;
  caps: Caps;
  now: () => number;
}

export type DirectUploads = ReturnType<typeof createDirectUploads>;

/** How long the address takes the file. */
const openSeconds = 3600;
/** A form that is sent in the last second may take so long: 5 GiB at 0.5 Mbit/s. */
const sendMs = 24 * 3600 * 1000;
const copyMs = 15 * 60_000;

/** Files that callers hand to the store themselves: announced, sent, and taken over when complete. */
export const createDirectUploads = (deps: DirectUploadsDeps) => {
  const { database, store, looseBlobs, caps, now } = deps;

  const direct = () => {
    if (store.direct) return store.direct;
    throw new ApiError('conflict', 'The store of this platform takes no files from outside.', {
      hint: 'Use POST /storage/upload.',
    });
  };

  /** They stay leased: a form that was late may bring its bytes once more. */
  const clear = async (blobKeys: readonly string[]) => {
    for (const key of blobKeys) await store.remove(key).catch(() => {});
  };

  const insert = (identity: Identity, id: string, blobKey: string, announced: Announced) =>
    database.transaction(async () => {
      const { number } = identity.project;
      const added = await database.query(
        `INSERT INTO direct_uploads
           (project_number, id, owner_id, name, visibility, blob_key, expires_at)
         SELECT $1, $2, $3, $4, $5, $6, $7
          WHERE (SELECT count(*) FROM direct_uploads WHERE project_number = $1) < ${maxOpen}
         RETURNING true`,
        [
          ...[number, id, ownerOf(identity), cleanFileName(announced.name), announced.visibility],
          ...[blobKey, new Date(now() + openSeconds * 1000)],
        ],
      );
      if (added.length === 0) throw tooManyOpen();
      await looseBlobs.leaseFor(number, blobKey, openSeconds * 1000 + sendMs);
    });

  /** @throws ApiError not_found */
  const find = (identity: Identity, id: string) =>
    findOpened<{ name: string; visibility: Visibility; blob_key: string }>(
      database,
      { table: 'direct_uploads', columns: 'name, visibility, blob_key' },
      identity,
      id,
      now(),
    );

  /** @throws ApiError conflict where nothing has arrived, not_found where another call was faster */
  const orNothing = async <T>(identity: Identity, id: string, work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof BlobNotFound)) throw error;
      await find(identity, id);
      throw new ApiError('conflict', 'The file has not arrived yet.', { cause: error });
    }
  };

  return {
    /** @throws ApiError conflict, body_too_large, storage_quota, overloaded */
    async open(identity: Identity, announced: Announced): Promise<Slip> {
      const { presign } = direct();
      const cap = await caps.of(identity);
      if (announced.size > cap.bytes) throw cap.error();
      const id = randomUUID();
      const blobKey = `${identity.project.number}/direct/${id}`;
      await insert(identity, id, blobKey, announced);
      const slip = await presign(blobKey, announced.size, openSeconds);
      return { id, ...slip, expiresAt: new Date(now() + openSeconds * 1000) };
    },

    /**
     * What arrived, under a key that the caller can't write to any more.
     * @throws ApiError not_found, conflict, body_too_large, out_of_credits, storage_quota
     */
    async take(identity: Identity, id: string): Promise<Upload> {
      const { number } = identity.project;
      const row = await find(identity, id);
      const come = arrived(store, row.blob_key);
      const { sizeBytes, mediaType } = await orNothing(identity, id, come);
      const cap = await caps.of(identity);
      if (sizeBytes > cap.bytes) throw cap.error();
      const blobKey = `${number}/${randomUUID()}`;
      await looseBlobs.leaseFor(number, blobKey, copyMs);
      await orNothing(identity, id, direct().copy(row.blob_key, blobKey));
      const { name, visibility } = row;
      return { id, blobKey, name, visibility, sizeBytes, mediaType, sha256: null };
    },

    /** Once, together with the file. */
    async close(identity: Identity, id: string, create: () => Promise<void>): Promise<void> {
      const keys = await database.transaction(async () => {
        const closed = await database.query<{ blob_key: string }>(
          'DELETE FROM direct_uploads WHERE project_number = $1 AND id = $2 RETURNING blob_key',
          [identity.project.number, id],
        );
        if (closed.length === 0) throw uploadNotFound();
        await create();
        return closed.map((each) => each.blob_key);
      });
      await clear(keys);
    },

    async sweep(): Promise<void> {
      const over = await database.query<{ blob_key: string }>(
        'DELETE FROM direct_uploads WHERE expires_at <= $1 RETURNING blob_key',
        [new Date(now())],
      );
      await clear(over.map((each) => each.blob_key));
    },

    async eraseProject(projectNumber: number): Promise<void> {
      await database.query('DELETE FROM direct_uploads WHERE project_number = $1', [projectNumber]);
    },
  };
};
