import { randomUUID } from 'node:crypto';
import { ApiError, isUuid, type Visibility } from '@backlot/contract';
import { createQueries, type Database, deleteBatch } from '@backlot/database';
import { type FairShares, toRequester } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';
import { BlobNotFound, type BlobStore } from '../blob-store/blob-store.ts';
import type { UnclaimedBlobs } from '../blob-store/unclaimed-blobs.ts';
import type { Audience, WantedAudience } from '../files/audience.ts';
import { uploaderId } from '../files/file.ts';
import { cleanFileName } from '../files/file-name.ts';
import { toRecordPlace } from '../files/file-row.ts';
import type { Quota } from '../files/quota.ts';
import type { RecordFiles } from '../files/readers/record-files.ts';
import type { Signers } from '../files/readers/signers.ts';
import { checkType, findUploadLimits } from '../files/upload-limits.ts';
import type { DB as Tables } from '../tables.ts';
import { createCheckAnnouncement } from './announcements.ts';
import { inspectStoredBlob, openedFrom, uploadNotFound } from './open-uploads.ts';
import type { Upload } from './uploads.ts';

export interface NewDirectUpload extends WantedAudience {
  name: string;
  size: number;
}

export interface UploadForm {
  id: string;
  url: string;
  fields: Record<string, string>;
  expiresAt: Date;
}

export interface DirectUploadsDeps {
  database: Database;
  store: BlobStore;
  unclaimedBlobs: UnclaimedBlobs;
  quota: Quota;
  /** Of copies under way: one of 5 GiB keeps a connection to the store for minutes. */
  copies: FairShares;
  signers: Pick<Signers, 'mayGoOn'>;
  recordFiles: Pick<RecordFiles, 'resolve'>;
  now: () => number;
}

export type DirectUploads = ReturnType<typeof createDirectUploads>;

/** How long the form is valid. */
const openSeconds = 3600;
/** A form that is sent in the last second may take so long: 5 GiB at 0.5 Mbit/s. */
const sendMs = 24 * 3600 * 1000;
const copyMs = 15 * 60_000;

/** Files that callers send to the store themselves: opened here, sent there, completed here. */
export const createDirectUploads = (deps: DirectUploadsDeps) => {
  const { database, store, unclaimedBlobs, quota, copies, signers, recordFiles, now } = deps;
  const queries = createQueries<Tables>(database);
  const checkAnnouncement = createCheckAnnouncement(database, quota, now);

  const direct = () => {
    if (store.direct) return store.direct;
    throw new ApiError('conflict', 'The store of this platform takes no files from outside.', {
      hint: 'Use POST /storage/upload.',
    });
  };

  /** Their leases stay: a late form may bring the bytes once more. */
  const removeNow = async (blobKeys: readonly string[]) => {
    for (const key of blobKeys) await store.remove(key).catch(() => {});
  };

  const insert = (
    identity: Identity,
    id: string,
    blobKey: string,
    newUpload: Pick<NewDirectUpload, 'name' | 'size'> & Audience,
  ) =>
    database.transaction(async () => {
      const { number } = identity.project;
      await checkAnnouncement(identity, newUpload.size);
      await queries
        .insertInto('direct_uploads')
        .values({
          project_number: number,
          id,
          owner_id: uploaderId(identity),
          name: cleanFileName(newUpload.name),
          visibility: newUpload.visibility,
          group_id: newUpload.groupId,
          record_collection: newUpload.record?.collectionId ?? null,
          record_id: newUpload.record?.recordId ?? null,
          blob_key: blobKey,
          expires_at: new Date(now() + openSeconds * 1000),
          size_bytes: newUpload.size,
          opened_from: openedFrom(identity),
          opened_with: identity.keyId,
        })
        .execute();
      await unclaimedBlobs.leaseFor(number, blobKey, openSeconds * 1000 + sendMs);
    });

  /** An upload that a user opened is found by that user alone. @throws ApiError not_found, unavailable */
  const find = async (identity: Identity, id: string) => {
    if (!isUuid(id)) throw uploadNotFound();
    const row = await queries
      .selectFrom('direct_uploads')
      .select(['name', 'visibility', 'group_id', 'blob_key', 'opened_with'])
      .select(['record_collection', 'record_id'])
      .where('project_number', '=', identity.project.number)
      .where('id', '=', id)
      .where('expires_at', '>', new Date(now()))
      .where((upload) =>
        upload.or([upload('owner_id', 'is', null), upload('owner_id', '=', uploaderId(identity))]),
      )
      .executeTakeFirstOrThrow(uploadNotFound);
    if (await signers.mayGoOn(identity, row.opened_with)) return row;
    throw uploadNotFound();
  };

  /** @throws ApiError conflict where nothing has arrived, not_found where another call was faster */
  const translateNotArrived = async <T>(
    identity: Identity,
    id: string,
    work: Promise<T>,
  ): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof BlobNotFound)) throw error;
      await find(identity, id);
      throw new ApiError('conflict', 'The file has not arrived yet.', { cause: error });
    }
  };

  const copyToFile = async (identity: Identity, id: string): Promise<Upload> => {
    const { number } = identity.project;
    const row = await find(identity, id);
    const inspected = inspectStoredBlob(store, row.blob_key);
    const { sizeBytes, mediaType } = await translateNotArrived(identity, id, inspected);
    const limit = await quota.sizeLimit(identity);
    if (sizeBytes > limit.bytes) throw limit.error();
    const callerLimits = findUploadLimits(identity);
    checkType(identity, callerLimits, mediaType);
    const blobKey = `${number}/${randomUUID()}`;
    await unclaimedBlobs.leaseFor(number, blobKey, copyMs);
    await translateNotArrived(identity, id, direct().copy(row.blob_key, blobKey));
    return {
      id,
      blobKey,
      name: row.name,
      visibility: row.visibility as Visibility,
      groupId: row.group_id,
      record: toRecordPlace(row),
      sizeBytes,
      mediaType,
      maxKeptBytes: callerLimits.perUser,
    };
  };

  return {
    /** @throws ApiError unauthenticated, forbidden, conflict, body_too_large, storage_quota, overloaded */
    async open(identity: Identity, newUpload: NewDirectUpload): Promise<UploadForm> {
      const { presignUpload } = direct();
      const audience = await recordFiles.resolve(identity, newUpload);
      const limit = await quota.sizeLimit(identity);
      if (newUpload.size > limit.bytes) throw limit.error();
      const id = randomUUID();
      const blobKey = `${identity.project.number}/direct/${id}`;
      const { name, size } = newUpload;
      await insert(identity, id, blobKey, { name, size, ...audience });
      const form = await presignUpload(blobKey, newUpload.size, openSeconds);
      return { id, ...form, expiresAt: new Date(now() + openSeconds * 1000) };
    },

    /**
     * Copies what arrived to a key that the caller can't write to any more.
     * @throws ApiError not_found, conflict, body_too_large, out_of_credits, storage_quota; FairShareFull
     */
    copyToFile: (identity: Identity, id: string, signal: AbortSignal): Promise<Upload> =>
      copies.run(toRequester(identity), () => copyToFile(identity, id), { signal }),

    /** Ends the upload in the transaction that makes the file. @throws ApiError not_found */
    async complete(identity: Identity, id: string, create: () => Promise<void>): Promise<void> {
      await database.transaction(async () => {
        const completed = await queries
          .deleteFrom('direct_uploads')
          .where('project_number', '=', identity.project.number)
          .where('id', '=', id)
          .returning('blob_key')
          .executeTakeFirstOrThrow(uploadNotFound);
        await create();
        // The caller's transaction may go on, and may fail: then the upload is open again.
        database.afterCommit(() => void removeNow([completed.blob_key]));
      });
    },

    async sweep() {
      const { rows, left } = await deleteBatch<{ blob_key: string }>(
        database,
        { table: 'direct_uploads', condition: 'expires_at <= $1', values: [new Date(now())] },
        'blob_key',
      );
      await removeNow(rows.map((row) => row.blob_key));
      return left;
    },

    async eraseProject(projectNumber: number): Promise<void> {
      await queries
        .deleteFrom('direct_uploads')
        .where('project_number', '=', projectNumber)
        .execute();
    },
  };
};
