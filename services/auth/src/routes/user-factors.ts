import { ApiError, authRoutes, isUuid } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';
import { presentIdentity } from '../identities/identities.ts';
import { unknownUser } from '../users/refusals.ts';
import { requireUser } from './user-sessions.ts';

export const listUserFactors = (features: Features) =>
  route(authRoutes.listUserFactors, async ({ params, identity: { project } }) => {
    const { factors, passkeys, identities } = features;
    const { id } = await requireUser(features, project.number, params.userId);
    const [own, keys, linked] = await Promise.all([
      factors.list(project.number, id),
      passkeys.list(project.number, id),
      identities.list(project.number, id),
    ]);
    return { body: { ...own, passkeys: keys, identities: linked.map(presentIdentity) } };
  });

export const resetUserFactors = (features: Features) =>
  route(authRoutes.resetUserFactors, async ({ params: { userId }, identity }) => {
    const { users, factors, sessions, signInEvents, database } = features;
    const { project } = identity;
    await database.transaction(async () => {
      if (!isUuid(userId) || !(await users.lock(project.number, userId))) throw unknownUser();
      await factors.endAll(project.number, userId);
      await sessions.endAll(project.number, userId);
      await signInEvents.add(identity, userId, { kind: 'factor_removed', detail: 'by the owner' });
    });
    return { body: { ok: true as const } };
  });

type Remove = (features: Features, project: number, userId: string, id: string) => Promise<unknown>;

/** Each throws not_found for what it does not have. */
const ways: Record<'factor_removed' | 'passkey_removed' | 'identity_removed', Remove> = {
  async factor_removed({ factors }, project, userId, id) {
    await factors.require(project, userId, id);
    await factors.endTotp(project, userId);
  },
  passkey_removed: ({ passkeys }, project, userId, id) => passkeys.remove(project, userId, id),
  identity_removed: ({ identities }, project, userId, id) => identities.remove(project, userId, id),
};

const isMissing = (error: unknown) => error instanceof ApiError && error.code === 'not_found';

export const deleteUserFactor = (features: Features) =>
  route(authRoutes.deleteUserFactor, async ({ params: { userId, id }, identity }) => {
    const { users, sessions, signInEvents, database } = features;
    const { number } = identity.project;
    const remove = async () => {
      for (const [kind, take] of Object.entries(ways) as [keyof typeof ways, Remove][]) {
        const isTaken = await take(features, number, userId, id).then(
          () => true,
          (error: unknown) => {
            if (isMissing(error)) return false;
            throw error;
          },
        );
        if (isTaken) return kind;
      }
      throw new ApiError('not_found', 'This user has no such factor, passkey or linked account.');
    };
    await database.transaction(async () => {
      if (!isUuid(userId) || !(await users.lock(number, userId))) throw unknownUser();
      const kind = await remove();
      await sessions.endAll(number, userId);
      await signInEvents.add(identity, userId, { kind, detail: 'by the owner' });
    });
    return { body: { ok: true as const } };
  });
