import { ApiError, type UserDirectory } from '@backlot/contract';
import type { Identity } from '@backlot/identity';

/** What becomes of a user shows within so long. */
const checkMs = 4000;

const describeGroups = (groups: Identity['groups']): string =>
  (groups ?? [])
    .map(({ id, role }) => `${id} ${role}`)
    .sort()
    .join();

/**
 * Asks now and then whether a user who called some time ago would still be the same caller.
 * @throws ApiError unauthenticated where they would not, unavailable
 */
export const createSameCaller = (
  users: Pick<UserDirectory, 'findRoleAndGroups'>,
  { project, caller, userId, role = 'user', groups }: Identity,
  now: () => number,
): (() => Promise<void>) => {
  let checkedAt = now();
  return async () => {
    if (caller !== 'user' || userId === null || now() - checkedAt < checkMs) return;
    const user = await users.findRoleAndGroups(project.number, userId).catch((cause: unknown) => {
      throw new ApiError('unavailable', 'Accounts can not be asked right now.', { cause });
    });
    checkedAt = now();
    const isSame =
      user !== null &&
      user.isBlocked !== true &&
      user.role === role &&
      describeGroups(user.groups) === describeGroups(groups);
    if (!isSame) throw new ApiError('unauthenticated', 'What you may read has changed meanwhile.');
  };
};
