import { ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { type File, fileNotFound } from './files.ts';

const isOwner = (identity: Identity, file: File): boolean =>
  identity.caller === 'user' && file.ownerId !== null && file.ownerId === identity.userId;

/** The owner of the file, and whoever runs the project. */
const isMaster = (identity: Identity, file: File): boolean =>
  ['owner', 'key', 'operator'].includes(identity.caller) || isOwner(identity, file);

export const mayRead = (identity: Identity, file: File): boolean =>
  file.visibility === 'public' || isMaster(identity, file);

/** @throws ApiError not_found where the caller may not even see it, forbidden */
export const checkMayChange = (identity: Identity, file: File | null): File => {
  if (!file || !mayRead(identity, file)) throw fileNotFound();
  if (isMaster(identity, file)) return file;
  throw new ApiError('forbidden', 'This file belongs to somebody else.');
};
