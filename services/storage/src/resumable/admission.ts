import { ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { UnclaimedBlobs } from '../blob-store/unclaimed-blobs.ts';
import type { Quota } from '../files/quota.ts';
import { maxOpenUploads, openedFrom, tooManyOpenUploads } from '../upload/open-uploads.ts';
import { blobKeyFor, type ResumableRows, type ResumableUpload } from './resumable-rows.ts';
import type { PartHeaders } from './tus-headers.ts';

export const openMs = 24 * 3600 * 1000;
/** A call that still writes to an upload that has ended has stopped by then. */
export const graceMs = 15 * 60_000;
/** An upload that received no byte for so long may be replaced by a new one. */
const idleMs = 10 * 60_000;

export interface AdmissionDeps {
  rows: ResumableRows;
  quota: Quota;
  unclaimedBlobs: UnclaimedBlobs;
  now: () => number;
}

const tooManyBytesOpen = () =>
  new ApiError('overloaded', 'Uploads of yours that are not complete take too much of the room.', {
    retryAfterSeconds: 60,
    hint: 'Complete them, or end them by DELETE.',
  });

/**
 * Whether one more upload may be opened, and have more bytes. Until it is complete it costs nothing, and so an
 * address takes no more, in number and bytes, than it leaves to others (docs/decisions/0018); the bytes of one
 * upload it always may.
 */
export const createAdmission = ({ rows, quota, unclaimedBlobs, now }: AdmissionDeps) => {
  /** Uploads that are opened and never sent must not block others for a day. */
  const evictIdleUpload = async (projectNumber: number, from: Buffer | null | undefined) => {
    const id = await rows.findIdle(projectNumber, new Date(now() + openMs - idleMs), from);
    if (id === undefined || !(await rows.remove(projectNumber, id))) throw tooManyOpenUploads();
    await unclaimedBlobs.scheduleRemoval(projectNumber, [blobKeyFor(projectNumber, id)], graceMs);
  };

  return {
    /** In a transaction that has the project's lock. @throws ApiError overloaded, storage_quota */
    async checkNewUpload(identity: Identity, sizeBytes: number): Promise<void> {
      const { number } = identity.project;
      const from = openedFrom(identity);
      const { all, own } = await rows.countOpen(number, from);
      if (all >= maxOpenUploads) await evictIdleUpload(number, undefined);
      else if (own + 1 > maxOpenUploads - all) await evictIdleUpload(number, from);
      await quota.check(number, sizeBytes);
    },

    /** @throws ApiError body_too_large, out_of_credits, storage_quota, overloaded */
    async checkPart(
      identity: Identity,
      upload: ResumableUpload,
      { offset, length = Infinity }: PartHeaders,
    ): Promise<void> {
      const { sizeBytes, receivedBytes } = upload;
      const { number } = identity.project;
      const limit = await quota.resumableLimit(identity);
      if (sizeBytes > limit.bytes) throw limit.error();
      const moreBytes = Math.min(offset + length, sizeBytes) - receivedBytes;
      await quota.check(number, moreBytes);
      const besideBytes = await rows.countBytesBeside(number, upload);
      if (besideBytes === 0) return;
      const left = await quota.left(number);
      if (besideBytes + moreBytes > left.bytes) throw tooManyBytesOpen();
    },
  };
};
