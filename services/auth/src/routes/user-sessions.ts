import { ApiError, authRoutes, isUuid } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';
import { unknownUser } from '../users/refusals.ts';

/** @throws ApiError not_found */
export const requireUser = async ({ users }: Features, project: number, userId: string) => {
  const user = isUuid(userId) && (await users.find(project, userId));
  if (!user) throw unknownUser();
  return user;
};

export const listUserSessions = (features: Features) =>
  route(authRoutes.listUserSessions, async ({ params, identity: { project } }) => {
    const user = await requireUser(features, project.number, params.userId);
    const items = await features.sessions.list(project.number, user.id);
    return { body: { items, hasMore: false, nextCursor: null } };
  });

export const endUserSessions = (features: Features) =>
  route(authRoutes.endUserSessions, async ({ params, identity: { project } }) => {
    const user = await requireUser(features, project.number, params.userId);
    await features.sessions.endAll(project.number, user.id);
    return { body: { ok: true as const } };
  });

export const endUserSession = (features: Features) =>
  route(authRoutes.endUserSession, async ({ params, identity: { project } }) => {
    const user = await requireUser(features, project.number, params.userId);
    const { sessionId } = params;
    const isEnded =
      isUuid(sessionId) && (await features.sessions.end(project.number, sessionId, user.id));
    if (!isEnded) throw new ApiError('not_found', 'This user has no such session.');
    return { body: { ok: true as const } };
  });

export const listSignUps = ({ userLists }: Features) =>
  route(authRoutes.listSignUps, async ({ query, identity: { project } }) => {
    const items = await userLists.signUps(project.number, query.days);
    return { body: { items, hasMore: false, nextCursor: null } };
  });
