import { ApiError, type Suspension } from '@backlot/contract';
import type { Database } from '@backlot/database';

/** Until the transaction ends nobody else makes or suspends projects of this owner. */
export const lockOwner = async (database: Database, ownerId: string): Promise<void> => {
  await database.query("SELECT pg_advisory_xact_lock(hashtextextended('projects of ' || $1, 0))", [
    ownerId,
  ]);
};

/**
 * What holds for a project that the owner makes now, with the owner locked.
 * @param previewOf id of the project beside which it is to stand
 * @throws ApiError suspended
 */
export const suspensionsOfNew = async (
  database: Database,
  ownerId: string,
  previewOf: string | undefined,
): Promise<Suspension[]> => {
  const rows = await database.query<{
    owner_id: string | null;
    capability: Suspension['capability'];
    reason: string;
    created_at: Date;
  }>(
    `SELECT owner_id, capability, reason, created_at FROM suspensions
      WHERE owner_id = $1 OR project_number = (SELECT number FROM projects WHERE id = $2)
      ORDER BY created_at, id`,
    [ownerId, previewOf ?? null],
  );
  const whole = rows.find(({ owner_id: of, capability }) => of !== null && capability === 'all');
  if (whole)
    throw new ApiError(
      'suspended',
      `The operator of the platform has suspended your account: ${whole.reason}`,
      { hint: 'The operator alone can lift it; until then you can make and restore no project.' },
    );
  return rows.map(({ owner_id: of, capability, reason, created_at: at }) => ({
    of: of === null ? 'project' : 'owner',
    capability,
    reason,
    since: at.toISOString(),
  }));
};
