import { ApiError } from '@backlot/contract';
import { hasPower, type Identity } from '@backlot/identity';
import type { Audience } from './audience.ts';

export interface File extends Audience {
  id: string;
  ownerId: string | null;
  name: string;
  sizeBytes: number;
  mediaType: string;
  blobKey: string;
  createdAt: Date;
}

export interface ReceivedFile extends Audience {
  name: string;
  sizeBytes: number;
  /** SHA-256 in hex, where an Idempotency-Key came with it. */
  digest?: string | undefined;
  mediaType: string;
  /** What stood beside it in its form. */
  fields?: Record<string, unknown>;
}

/** What of a caller decides which files are theirs. */
export type Reader = Pick<Identity, 'caller' | 'userId' | 'groups'>;

export const fileNotFound = (): ApiError => new ApiError('not_found', 'There is no such file.');

export const uploaderId = ({ caller, userId }: Omit<Reader, 'groups'>): string | null =>
  caller === 'user' ? userId : null;

export const runsProject = ({ caller }: Pick<Reader, 'caller'>) =>
  ['owner', 'key', 'operator'].includes(caller);

export const roleInGroup = ({ groups = [] }: Reader, groupId: string | null): string | undefined =>
  groups.find(({ id }) => id === groupId)?.role;

/** A file of a group is its uploader's for as long as they are in the group. */
const canDelete = (identity: Reader, { ownerId, groupId }: File): boolean => {
  if (runsProject(identity)) return true;
  const isUploader = ownerId !== null && ownerId === uploaderId(identity);
  if (groupId === null) return isUploader;
  const role = roleInGroup(identity, groupId);
  return role === 'owner' || role === 'admin' || (isUploader && role !== undefined);
};

/** Whoever may read the private file may pass it on; who reads its record too, which others tell. */
export const canSign = (identity: Reader, file: File): boolean =>
  canDelete(identity, file) || roleInGroup(identity, file.groupId) !== undefined;

export const canRead = (identity: Identity, file: File): boolean =>
  file.visibility === 'public' || canSign(identity, file);

/** Whether the caller is in the group, or runs the project. */
export const knowsGroup = (identity: Identity, groupId: string): boolean =>
  runsProject(identity) || roleInGroup(identity, groupId) !== undefined;

/** @throws ApiError not_found where the caller may not even see it, forbidden */
const requireFile =
  (may: (identity: Identity, file: File) => boolean) =>
  (identity: Identity, file: File | null): File => {
    if (!file || !canRead(identity, file)) throw fileNotFound();
    if (may(identity, file)) return file;
    throw new ApiError('forbidden', 'This file belongs to somebody else.');
  };

const requireOwnDeletable = requireFile(canDelete);

/** @throws as above. A role may have been given the power to delete any. */
export const requireDeletable = (identity: Identity, file: File | null): File =>
  file && hasPower(identity, 'delete-files') ? file : requireOwnDeletable(identity, file);

/** To whom the file belongs, or the project's own callers. @throws ApiError not_found, forbidden */
export const requireOwn = requireFile(
  (identity, { ownerId }) =>
    runsProject(identity) || (ownerId !== null && ownerId === uploaderId(identity)),
);
