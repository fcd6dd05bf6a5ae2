import type { Identity } from '@backlot/identity';
import type { UnclaimedBlobs } from '../blob-store/unclaimed-blobs.ts';
import type { Quota } from '../files/quota.ts';
import { maxOpenUploads, tooManyOpenUploads } from '../upload/open-uploads.ts';
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

/** Whether a project may open one more upload, and have more bytes of one. */
export const createAdmission = ({ rows, quota, unclaimedBlobs, now }: AdmissionDeps) => {
  /** Uploads that are opened and never sent must not block others for a day. */
  const evictIdleUpload = async (projectNumber: number) => {
    const id = await rows.findIdle(projectNumber, new Date(now() + openMs - idleMs));
    if (id === undefined || !(await rows.remove(projectNumber, id))) throw tooManyOpenUploads();
    await unclaimedBlobs.scheduleRemoval(projectNumber, [blobKeyFor(projectNumber, id)], graceMs);
  };

  return {
    /** In a transaction that has the project's lock. @throws ApiError overloaded, storage_quota */
    async checkNewUpload(projectNumber: number, sizeBytes: number): Promise<void> {
      if ((await rows.countOpen(projectNumber)) >= maxOpenUploads)
        await evictIdleUpload(projectNumber);
      await quota.check(projectNumber, sizeBytes);
    },

    /** @throws ApiError body_too_large, out_of_credits, storage_quota */
    async checkPart(
      identity: Identity,
      { sizeBytes, receivedBytes }: ResumableUpload,
      { offset, length = Infinity }: PartHeaders,
    ): Promise<void> {
      const { number } = identity.project;
      const limit = await quota.resumableLimit(identity);
      if (sizeBytes > limit.bytes) throw limit.error();
      const reachedBytes = Math.min(offset + length, sizeBytes);
      await quota.check(number, reachedBytes - receivedBytes);
    },
  };
};
