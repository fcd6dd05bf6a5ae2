import { ApiError, type Visibility } from '@backlot/contract';
import type { Identity } from '@backlot/identity';

export interface File {
  id: string;
  ownerId: string | null;
  name: string;
  sizeBytes: number;
  mediaType: string;
  visibility: Visibility;
  /** Null where the bytes did not pass through this service. */
  sha256: Buffer | null;
  blobKey: string;
  createdAt: Date;
}

export const fileNotFound = (): ApiError => new ApiError('not_found', 'There is no such file.');

export const uploaderId = ({ caller, userId }: Identity): string | null =>
  caller === 'user' ? userId : null;

/** Who uploaded the file, and who runs the project. */
const canManage = (identity: Identity, { ownerId }: File): boolean =>
  ['owner', 'key', 'operator'].includes(identity.caller) ||
  (ownerId !== null && ownerId === uploaderId(identity));

export const canRead = (identity: Identity, file: File): boolean =>
  file.visibility === 'public' || canManage(identity, file);

/** @throws ApiError not_found where the caller may not even see it, forbidden */
export const requireManageable = (identity: Identity, file: File | null): File => {
  if (!file || !canRead(identity, file)) throw fileNotFound();
  if (canManage(identity, file)) return file;
  throw new ApiError('forbidden', 'This file belongs to somebody else.');
};
