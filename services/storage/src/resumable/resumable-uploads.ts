import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { ApiError, usageFollows, usageHeader } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { toApiError } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { Upload } from '@tus/server';
import { BlobNotFound, type BlobStore } from '../blob-store/blob-store.ts';
import type { Files } from '../files.ts';
import type { LooseBlobs } from '../loose-blobs.ts';
import { lockProject } from '../removals.ts';
import type { Caps } from '../upload/caps.ts';
import { arrived, uploadNotFound } from '../upload/opened.ts';
import type { Slots } from '../upload/slots.ts';
import { priceOf } from '../usage.ts';
import { createAppend, wrongOffset } from './append.ts';
import { createRoom, graceMs, openMs } from './room.ts';
import { createResumableRows, type Resumable } from './rows.ts';
import { createTurns } from './turns.ts';
import type { Announced, Stated } from './tus-headers.ts';

/** How far an upload has come; at its end there is a file of its id. */
export interface Progress extends Resumable {
  offset: number;
  /** Of the call that made the file, where it is not free. */
  usedMillicredits?: number | undefined;
}

export interface ResumableUploadsDeps {
  database: Database;
  store: BlobStore;
  files: Files;
  looseBlobs: LooseBlobs;
  caps: Caps;
  slots: Slots;
  now: () => number;
}

export type ResumableUploads = ReturnType<typeof createResumableUploads>;

const whole = (upload: Resumable): Progress => ({ ...upload, offset: upload.sizeBytes });
const found = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw error instanceof BlobNotFound ? uploadNotFound() : error;
  });

/** It may still become a file on what this call has reserved: the ledger will tell. */
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

/** Files that come in several calls, as many as it takes (tus); the last one makes the file. */
export const createResumableUploads = (deps: ResumableUploadsDeps) => {
  const { database, store, files, looseBlobs, caps, slots, now } = deps;
  const rows = createResumableRows(database, now);
  const turns = createTurns(database, now);
  const room = createRoom({ rows, files, looseBlobs, now });
  const datastore = store.resumable(rows.notes);
  const appendBytes = createAppend(datastore);

  const add = (identity: Identity, announced: Announced) =>
    database.transaction(async () => {
      const { number } = identity.project;
      await lockProject(database, number);
      await room.forOneMore(number, announced.sizeBytes);
      const upload = await rows.add(identity, randomUUID(), announced, new Date(now() + openMs));
      await looseBlobs.leaseFor(number, upload.blobKey, openMs + graceMs);
      return upload;
    });

  /** In its turn, so that nobody writes to it. False where it is finished. */
  const giveUp = async (projectNumber: number, { id, blobKey }: Resumable) => {
    const isOver = await database.transaction(async () => {
      if (!(await rows.remove(projectNumber, id))) return false;
      await looseBlobs.letGo(projectNumber, [blobKey]);
      return true;
    });
    if (isOver) await looseBlobs.settle(projectNumber, [blobKey]);
    return isOver;
  };

  const eraseAll = (projectNumber: number, ownerId?: string) =>
    database.transaction(async () => {
      const keys = await rows.removeAll(projectNumber, ownerId);
      await looseBlobs.letGo(projectNumber, keys, graceMs);
    });

  const finish = async (identity: Identity, upload: Resumable): Promise<Progress> => {
    const { id, blobKey, name, visibility } = upload;
    const { sizeBytes, mediaType } = await found(arrived(store, blobKey));
    if (sizeBytes !== upload.sizeBytes)
      throw new Error(`the blob ${blobKey} has ${sizeBytes} bytes, not ${upload.sizeBytes}`);
    const payer = { ...identity, reservation: upload.paidBy };
    const makeFile = async () => {
      if (!(await rows.finish(identity.project.number, id))) throw uploadNotFound();
      const file = { name, visibility, sizeBytes, mediaType, sha256: null };
      await files.create(payer, id, blobKey, file, upload.ownerId);
    };
    await database.transaction(makeFile).catch(async (error: unknown) => {
      // What it had reserved is given back with this answer: nobody may finish it on that later.
      if (error instanceof ApiError && error.status < 500)
        await giveUp(identity.project.number, upload);
      throw error;
    });
    return { ...whole(upload), isFinished: true, usedMillicredits: priceOf(payer, sizeBytes) };
  };

  const stand = async ({ blobKey }: Resumable) =>
    (await found(datastore.getUpload(blobKey))).offset;

  /** @throws ApiError conflict, body_too_large, out_of_credits, storage_quota */
  const admit = async (identity: Identity, upload: Resumable, { offset, length }: Stated) => {
    const mayFinish = length === undefined || offset + length >= upload.sizeBytes;
    // Before it takes over who pays.
    if (mayFinish && (await stand(upload)) !== offset) throw wrongOffset();
    const cap = await caps.of(mayFinish ? identity : { ...identity, reservation: null });
    if (upload.sizeBytes > cap.bytes) throw cap.error();
    const paidBy = identity.reservation ?? null;
    const { number } = identity.project;
    await room.forBytes(number, upload, Math.min(offset + (length ?? Infinity), upload.sizeBytes));
    if (mayFinish) await rows.payBy(number, upload.id, paidBy);
    return { ...upload, paidBy, mayFinish };
  };

  return {
    /** @throws ApiError body_too_large, storage_quota, overloaded */
    async open(identity: Identity, announced: Announced): Promise<Resumable> {
      const cap = await caps.of(identity);
      if (announced.sizeBytes > cap.bytes) throw cap.error();
      const upload = await add(identity, announced);
      try {
        const { blobKey: id, sizeBytes: size } = upload;
        await datastore.create(new Upload({ id, size, offset: 0 }));
      } catch (error) {
        await giveUp(identity.project.number, upload);
        throw error;
      }
      return upload;
    },

    /**
     * Ends a call that sends to it. All the bytes of one that is not finished make the file now.
     * @throws ApiError not_found, locked, storage_quota
     */
    async look(identity: Identity, id: string): Promise<Progress> {
      const upload = await rows.find(identity, id);
      if (upload.isFinished) return whole(upload);
      return turns.take(identity.project.number, id, async () => {
        const latest = await rows.find(identity, id);
        if (latest.isFinished) return whole(latest);
        const offset = await stand(latest);
        return offset === latest.sizeBytes ? finish(identity, latest) : { ...latest, offset };
      });
    },

    /**
     * @param body what comes, until another call waits; told how many bytes are missing
     * @throws ApiError not_found, locked, conflict, body_too_large, out_of_credits, storage_quota, overloaded
     */
    async append(
      identity: Identity,
      id: string,
      stated: Stated,
      body: (missing: number, isAwaited: AbortSignal) => Readable,
    ): Promise<Progress> {
      await rows.find(identity, id);
      const { number } = identity.project;
      const work = async (isAwaited: AbortSignal) => {
        const upload = await rows.find(identity, id);
        const isAtEnd = stated.offset === upload.sizeBytes;
        if (upload.isFinished && isAtEnd) return whole(upload);
        const { mayFinish, ...admitted } = await admit(identity, upload, stated);
        const added = async () => {
          // All has come, and only the file is missing.
          if (isAtEnd) return finish(identity, admitted);
          const coming = body(upload.sizeBytes - stated.offset, isAwaited);
          const offset = await appendBytes(upload.blobKey, stated, coming).catch(
            async (error: unknown) => {
              // What came of a part that is refused stays.
              await rows.received(number, id, await stand(upload));
              throw error;
            },
          );
          await rows.received(number, id, offset);
          return offset === upload.sizeBytes ? finish(identity, admitted) : { ...upload, offset };
        };
        return mayFinish ? added().catch(leaveUsageOpen) : added();
      };
      return slots.run(number, () => turns.take(number, id, work));
    },

    /** @throws ApiError not_found, conflict where it is a file already */
    async end(identity: Identity, id: string): Promise<void> {
      const upload = await rows.find(identity, id);
      const { number } = identity.project;
      if (await turns.take(number, id, () => giveUp(number, upload))) return;
      throw new ApiError('conflict', 'The upload has become a file.', {
        hint: 'Use DELETE /storage/files/<id>.',
      });
    },

    sweep: () => rows.sweep(),
    eraseUser: (projectNumber: number, userId: string) => eraseAll(projectNumber, userId),
    eraseProject: (projectNumber: number) => eraseAll(projectNumber),
  };
};
