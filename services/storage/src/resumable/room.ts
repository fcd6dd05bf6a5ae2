import type { Files } from '../files.ts';
import type { LooseBlobs } from '../loose-blobs.ts';
import { maxOpen, tooManyOpen } from '../upload/opened.ts';
import { blobKeyOf, type Resumable, type ResumableRows } from './rows.ts';

export const openMs = 24 * 3600 * 1000;
/** What still writes to an upload that has ended stops long before. */
export const graceMs = 15 * 60_000;
/** One that nothing came of for so long gives way, where there are too many. */
const idleMs = 10 * 60_000;

export interface RoomDeps {
  rows: ResumableRows;
  files: Files;
  looseBlobs: LooseBlobs;
  now: () => number;
}

/** Whether a project may have one more upload, or more bytes of one. */
export const createRoom = ({ rows, files, looseBlobs, now }: RoomDeps) => {
  /** Whoever opens uploads and sends nothing can not keep others from theirs for a day. */
  const makeWay = async (projectNumber: number) => {
    const id = await rows.findIdle(projectNumber, new Date(now() + openMs - idleMs));
    if (id === undefined || !(await rows.remove(projectNumber, id))) throw tooManyOpen();
    await looseBlobs.letGo(projectNumber, [blobKeyOf(projectNumber, id)], graceMs);
  };

  const checkQuota = async (projectNumber: number, bytes: number) => {
    const { totalBytes, quotaBytes } = await files.totals(projectNumber);
    if (totalBytes + bytes > quotaBytes) throw files.quotaReached();
  };

  return {
    /** In a transaction that has the project's lock. @throws ApiError overloaded, storage_quota */
    async forOneMore(projectNumber: number, sizeBytes: number): Promise<void> {
      const open = await rows.open(projectNumber);
      if (open.count >= maxOpen) await makeWay(projectNumber);
      await checkQuota(projectNumber, open.bytes + sizeBytes);
    },

    /** @param bytes what the upload will have then. @throws ApiError storage_quota */
    async forBytes(projectNumber: number, upload: Resumable, bytes: number): Promise<void> {
      const open = await rows.open(projectNumber);
      await checkQuota(projectNumber, open.bytes - upload.receivedBytes + bytes);
    },
  };
};
