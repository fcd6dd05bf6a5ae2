import { ApiError } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { accessOf, recordNotFound } from './access.ts';
import type { Target } from './change.ts';
import type { Collections } from './collections.ts';

/** The record that a path names. @throws ApiError not_found where there is no such collection */
export const targetOf = async (
  collections: Collections,
  identity: Identity,
  { collection: name, id }: { collection: string; id: string },
): Promise<Target> => {
  const collection = await collections.find(identity.project.number, name);
  if (!collection) throw recordNotFound();
  return { collection, access: accessOf(collection.access, identity), id };
};

/**
 * The number of the project that a path of the control plane names. The gateway has put it into the
 * identity and has checked who owns it.
 * @throws ApiError project_not_found where path and identity differ
 */
export const projectOfPath = ({ project }: Identity, projectId: string): number => {
  if (project.id === projectId) return project.number;
  throw new ApiError('project_not_found', 'There is no such project.');
};
