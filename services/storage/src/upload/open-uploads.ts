import { createHash } from 'node:crypto';
import { ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { BlobStore } from '../blob-store/blob-store.ts';
import { runsProject } from '../files/file.ts';
import { detectMediaType, headBytes } from '../media-types/media-type.ts';

/** For each project: so many direct uploads, and as many resumable ones. */
export const maxOpenUploads = 1000;

/** From where one is opened; null where whoever runs the project opens it, who need not leave any to others. */
export const openedFrom = (identity: Identity): Buffer | null =>
  runsProject(identity) ? null : createHash('sha256').update(identity.ip).digest();

export const uploadNotFound = (): ApiError =>
  new ApiError('not_found', 'There is no such upload, or no longer.');

export const tooManyOpenUploads = (): ApiError =>
  new ApiError('overloaded', 'Too many uploads of this app are open.', { retryAfterSeconds: 60 });

/** @throws BlobNotFound */
export const inspectStoredBlob = async (
  store: BlobStore,
  blobKey: string,
): Promise<{ sizeBytes: number; mediaType: string }> => {
  const sizeBytes = await store.sizeBytes(blobKey);
  const read = async (start: number, end: number) =>
    Buffer.concat(await (await store.open(blobKey, { start, end })).toArray());
  const head = await read(0, Math.min(sizeBytes, headBytes) - 1);
  const tail = sizeBytes <= headBytes ? head : await read(sizeBytes - headBytes, sizeBytes - 1);
  return { sizeBytes, mediaType: await detectMediaType(head, sizeBytes, tail) };
};
