import { ApiError, authRoutes, isUuid, platformProject } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { Features } from '../features.ts';
import { presentIdentity } from '../identities/identities.ts';
import { mostSignInEvents } from '../sign-in-events/sign-in-events.ts';
import { unknownUser } from '../users/refusals.ts';

export const listUsers = ({ userLists }: Features) =>
  route(authRoutes.listUsers, async ({ query, identity }) => ({
    body: await userLists.list(identity.project.number, query),
  }));

export const getUser = ({ users }: Features) =>
  route(authRoutes.getUser, async ({ params: { userId }, identity }) => {
    const user = isUuid(userId) && (await users.find(identity.project.number, userId));
    if (!user) throw unknownUser();
    return { body: users.present(user) };
  });

export const exportUser = (features: Features) =>
  route(authRoutes.exportUser, async ({ params: { userId }, identity: { project } }) => {
    const { users, sessions, members, factors, passkeys, identities, signInEvents } = features;
    const { number } = project;
    const user = isUuid(userId) && (await users.find(number, userId));
    if (!user) throw unknownUser();
    const [own, groups, { items }, keys, linked, events] = await Promise.all([
      sessions.list(number, userId),
      members.listGroups(number, userId),
      factors.list(number, userId),
      passkeys.list(number, userId),
      identities.list(number, userId),
      signInEvents.list(number, userId, { limit: mostSignInEvents }),
    ]);
    const withoutId = <T extends { id: string }>({ id: _, ...rest }: T) => rest;
    const shown = {
      sessions: own.map(withoutId),
      signInEvents: events.items.map(withoutId),
      factors: items,
      passkeys: keys,
      identities: linked.map(presentIdentity).map(withoutId),
      groups,
    };
    return { body: { user: users.present(user), ...shown } };
  });

/** Verified users get mail of the project: their owner may not make them so before being verified. */
const checkMayVerify = async (
  { users, config, database }: Features,
  { caller, project: { ownerId } }: Identity,
) => {
  if (!config.isOwnerVerificationOn || caller === 'operator') return;
  const { number } = platformProject;
  const owner =
    ownerId === null
      ? undefined
      : await database.inProject(number, () => users.find(number, ownerId));
  if (owner?.email_verified) return;
  throw new ApiError(
    'owner_unverified',
    'Verify your own e-mail address before you call those of others verified.',
    {
      hint: 'Follow the link in the mail that came when you signed up, or reset your password by mail.',
    },
  );
};

export const updateUser = (features: Features) =>
  route(authRoutes.updateUser, async ({ params, body, identity }) => {
    if (body.emailVerified === true) await checkMayVerify(features, identity);
    const { users, blocks } = features;
    const { blocked, reason, until, ...changes } = body;
    const block = blocks.read({ blocked, reason, until });
    const user = await users.update(identity.project.number, params.userId, { ...changes, block });
    return { body: users.present(user) };
  });

export const deleteUser = ({ users }: Features) =>
  route(authRoutes.deleteUser, async ({ params, identity }) => {
    await users.erase(identity.project, params.userId);
    return { body: { ok: true as const } };
  });

export const listOwners = ({ userLists }: Features) =>
  route(authRoutes.listOwners, async ({ query }) => ({
    body: await userLists.list(platformProject.number, query),
  }));
