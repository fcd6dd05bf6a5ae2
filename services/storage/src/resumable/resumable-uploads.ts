import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { ApiError, storageRoutes, usageFollows, usageHeader } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { toRequester } from '@backlot/fair-shares';
import { toApiError } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { chargeFor } from '@backlot/service';
import { Upload } from '@tus/server';
import { BlobNotFound, type BlobStore } from '../blob-store/blob-store.ts';
import type { UnclaimedBlobs } from '../blob-store/unclaimed-blobs.ts';
import type { Files } from '../files/files.ts';
import type { Quota } from '../files/quota.ts';
import type { RecordFiles } from '../files/readers/record-files.ts';
import type { Signers } from '../files/readers/signers.ts';
import { checkType, findUploadLimits } from '../files/upload-limits.ts';
import { plainText } from '../media-types/media-type.ts';
import type { TransferPlace, TransferPlaces } from '../transfer-places.ts';
import { inspectStoredBlob, uploadNotFound } from '../upload/open-uploads.ts';
import { createAdmission, graceMs, openMs } from './admission.ts';
import { createAppend, wrongOffset } from './append.ts';
import { createResumableRows, type OpenedUpload, type ResumableUpload } from './resumable-rows.ts';
import type { NewUpload, PartHeaders } from './tus-headers.ts';
import { createUploadLock } from './upload-lock.ts';

/** How far an upload has come; a finished one is a file with its id. */
export interface Progress extends ResumableUpload {
  offset: number;
  /** Charged to the call that made the file; undefined where it is free. */
  usedMillicredits?: number | undefined;
}

export interface ResumableUploadsDeps {
  database: Database;
  store: BlobStore;
  files: Files;
  unclaimedBlobs: UnclaimedBlobs;
  quota: Quota;
  places: TransferPlaces;
  signers: Pick<Signers, 'mayGoOn'>;
  recordFiles: Pick<RecordFiles, 'resolve'>;
  now: () => number;
}

export type ResumableUploads = ReturnType<typeof createResumableUploads>;

const emptyBlob = { sizeBytes: 0, mediaType: plainText };
async function* noBytes(): AsyncGenerator<Buffer> {}

const completed = (upload: ResumableUpload): Progress => ({ ...upload, offset: upload.sizeBytes });

const translateNotFound = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw error instanceof BlobNotFound ? uploadNotFound() : error;
  });

/** The file may still be made, and paid from the reservation of this call: the gateway must not release it. */
const leaveUsageOpen = (error: unknown): never => {
  const { code, status, message, cause, retryAfterSeconds } = toApiError(error);
  if (status < 500) throw error;
  const headers = { [usageHeader]: usageFollows };
  throw new ApiError(code, message, {
    cause,
    headers,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
};

/** Files that come in any number of calls (tus); the last one makes the file. */
export const createResumableUploads = (deps: ResumableUploadsDeps) => {
  const { database, store, files, unclaimedBlobs, quota, places, signers, now } = deps;
  const { recordFiles } = deps;
  const rows = createResumableRows(database, now);
  const lock = createUploadLock(database, now);
  const admission = createAdmission({ rows, quota, unclaimedBlobs, now });
  const datastore = store.resumable(rows.notes);
  const appendBytes = createAppend(datastore);

  /** @throws ApiError not_found, also where the key that opened it has ended; unavailable */
  const find = async (identity: Identity, id: string): Promise<ResumableUpload> => {
    const upload = await rows.find(identity, id);
    if (await signers.mayGoOn(identity, upload.openedWith)) return upload;
    throw uploadNotFound();
  };

  const insert = (identity: Identity, newUpload: OpenedUpload) =>
    database.transaction(async () => {
      const { number } = identity.project;
      await quota.lock(number);
      await admission.checkNewUpload(identity, newUpload.sizeBytes);
      const expiresAt = new Date(now() + openMs);
      const upload = await rows.insert(identity, randomUUID(), newUpload, expiresAt);
      await unclaimedBlobs.leaseFor(number, upload.blobKey, openMs + graceMs);
      return upload;
    });

  /** Needs the upload's lock, so that nobody writes to it. False where it is finished. */
  const discard = async (projectNumber: number, { id, blobKey }: ResumableUpload) => {
    const isDiscarded = await database.transaction(async () => {
      if (!(await rows.remove(projectNumber, id))) return false;
      await unclaimedBlobs.scheduleRemoval(projectNumber, [blobKey]);
      return true;
    });
    if (isDiscarded) await unclaimedBlobs.removeUnclaimed(projectNumber, [blobKey]);
    return isDiscarded;
  };

  const eraseAll = (projectNumber: number, ownerId?: string) =>
    database.transaction(async () => {
      const keys = await rows.removeAll(projectNumber, ownerId);
      await unclaimedBlobs.scheduleRemoval(projectNumber, keys, graceMs);
    });

  const makeFile = async (payer: Identity, upload: ResumableUpload, blob: typeof emptyBlob) => {
    const { id, blobKey, name, visibility, groupId, record, ownerId } = upload;
    const callerLimits = findUploadLimits(payer);
    checkType(payer, callerLimits, blob.mediaType);
    const received = { name, visibility, groupId, record, ...blob };
    const file = { identity: payer, ownerId, id, blobKey, received };
    await database.transaction(async () => {
      if (!(await rows.finish(payer.project.number, id))) throw uploadNotFound();
      await files.create(payer.project, [{ ...file, maxKeptBytes: callerLimits.perUser }]);
    });
  };

  const finish = async (identity: Identity, upload: ResumableUpload): Promise<Progress> => {
    const { blobKey } = upload;
    const blob = await translateNotFound(inspectStoredBlob(store, blobKey));
    if (blob.sizeBytes !== upload.sizeBytes)
      throw new Error(`the blob ${blobKey} has ${blob.sizeBytes} bytes, not ${upload.sizeBytes}`);
    const payer = { ...identity, reservation: upload.reservation };
    await makeFile(payer, upload, blob).catch(async (error: unknown) => {
      // This answer releases the reservation: nobody may finish the upload with it later.
      if (error instanceof ApiError && error.status < 500)
        await discard(identity.project.number, upload);
      throw error;
    });
    const usedMillicredits = chargeFor(payer, storageRoutes.uploadPrice, blob.sizeBytes);
    return { ...completed(upload), isFinished: true, usedMillicredits };
  };

  const currentOffset = async ({ blobKey }: ResumableUpload) =>
    (await translateNotFound(datastore.getUpload(blobKey))).offset;

  const append = async (
    { project: { number } }: Identity,
    upload: ResumableUpload,
    part: PartHeaders,
    body: Readable,
  ) => {
    const offset = await appendBytes(upload.blobKey, part, body).catch(async (error: unknown) => {
      // A part that fails may have brought some bytes.
      await rows.setReceivedBytes(number, upload.id, await currentOffset(upload));
      throw error;
    });
    await rows.setReceivedBytes(number, upload.id, offset);
    return offset;
  };

  /** This call may bring the last bytes: from here on it pays, whichever call makes the file. */
  const takeOverPayment = async (identity: Identity, upload: ResumableUpload) => {
    const reservation = identity.reservation ?? null;
    await rows.setReservation(identity.project.number, upload.id, reservation);
    return { ...upload, reservation };
  };

  return {
    /** @throws ApiError unauthenticated, forbidden, body_too_large, storage_quota, overloaded */
    async create(identity: Identity, newUpload: NewUpload): Promise<ResumableUpload> {
      const audience = await recordFiles.resolve(identity, newUpload);
      const limit = await quota.sizeLimit(identity);
      if (newUpload.sizeBytes > limit.bytes) throw limit.error();
      if (newUpload.sizeBytes === 0)
        checkType(identity, findUploadLimits(identity), emptyBlob.mediaType);
      const upload = await insert(identity, { ...newUpload, ...audience });
      try {
        const { blobKey: id, sizeBytes: size } = upload;
        // Stores complete no blob of no parts.
        if (size === 0) await store.put(id, noBytes());
        else await datastore.create(new Upload({ id, size, offset: 0 }));
      } catch (error) {
        await discard(identity.project.number, upload);
        throw error;
      }
      return upload;
    },

    /**
     * An upload of no bytes is a file as soon as it is opened; the call that opens it pays. Where this fails, the
     * upload is never found. @throws ApiError storage_quota, invalid_token, forbidden, not_found
     */
    finishEmpty: (identity: Identity, upload: ResumableUpload): Promise<void> =>
      makeFile(identity, upload, emptyBlob),

    /**
     * Ends a call that still sends. An upload that has all its bytes, and is not finished, becomes a file.
     * @throws ApiError not_found, locked, storage_quota
     */
    async getProgress(identity: Identity, id: string): Promise<Progress> {
      const upload = await find(identity, id);
      if (upload.isFinished) return completed(upload);
      return lock.run(identity.project.number, id, async () => {
        const latest = await rows.find(identity, id);
        if (latest.isFinished) return completed(latest);
        const offset = await currentOffset(latest);
        return offset === latest.sizeBytes ? finish(identity, latest) : { ...latest, offset };
      });
    },

    /**
     * @param createBody reads the request until `stop` is aborted
     * @throws ApiError not_found, locked, conflict, body_too_large, out_of_credits, storage_quota, overloaded
     */
    async append(
      identity: Identity,
      id: string,
      part: PartHeaders,
      createBody: (missingBytes: number, place: TransferPlace, stop: AbortSignal) => Readable,
    ): Promise<Progress> {
      await find(identity, id);
      const { number } = identity.project;
      const appendPart = async (
        upload: ResumableUpload,
        place: TransferPlace,
        stop: AbortSignal,
      ): Promise<Progress> => {
        // All bytes are there; only the file is missing.
        if (part.offset === upload.sizeBytes) return finish(identity, upload);
        const body = createBody(upload.sizeBytes - part.offset, place, stop);
        const offset = await append(identity, upload, part, body);
        return offset === upload.sizeBytes ? finish(identity, upload) : { ...upload, offset };
      };
      const work = async (place: TransferPlace, stop: AbortSignal) => {
        const upload = await find(identity, id);
        const { sizeBytes } = upload;
        if (upload.isFinished) {
          if (part.offset !== sizeBytes) throw wrongOffset();
          return completed(upload);
        }
        const mayFinish = part.length === undefined || part.offset + part.length >= sizeBytes;
        if (!mayFinish) {
          await admission.checkPart({ ...identity, reservation: null }, upload, part);
          return appendPart(upload, place, stop);
        }
        if ((await currentOffset(upload)) !== part.offset) throw wrongOffset();
        await admission.checkPart(identity, upload, part);
        const paid = await takeOverPayment(identity, upload);
        return appendPart(paid, place, stop).catch(leaveUsageOpen);
      };
      return places.run(toRequester(identity), (place) =>
        lock.run(number, id, (stop) => work(place, stop)),
      );
    },

    /** @throws ApiError not_found, conflict where it is a file already */
    async terminate(identity: Identity, id: string): Promise<void> {
      const upload = await rows.find(identity, id);
      const { number } = identity.project;
      if (await lock.run(number, id, () => discard(number, upload))) return;
      throw new ApiError('conflict', 'The upload has become a file.', {
        hint: 'Use DELETE /storage/files/<id>.',
      });
    },

    sweep: () => rows.sweep(),
    eraseUser: (projectNumber: number, userId: string) => eraseAll(projectNumber, userId),
    eraseProject: (projectNumber: number) => eraseAll(projectNumber),
  };
};
