import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { lockOwner } from './owner-lock.ts';

export interface NamedProject {
  ownerId: string;
  externalId: string;
  /** Absent while it is made. */
  number?: number | undefined;
}

/**
 * Until the transaction ends nobody else gives a project of this owner an external id. Comes before any lock of a
 * project. @throws ApiError conflict
 */
export const claimExternalId = async (
  database: Database,
  { ownerId, externalId, number }: NamedProject,
): Promise<void> => {
  await lockOwner(database, ownerId);
  const [other] = await database.query<{ id: string }>(
    `SELECT id FROM projects
      WHERE owner_id = $1 AND external_id = $2 AND deleted_at IS NULL AND number IS DISTINCT FROM $3`,
    [ownerId, externalId, number ?? null],
  );
  if (other)
    throw new ApiError('conflict', `The project ${other.id} of this owner has this externalId.`);
};
