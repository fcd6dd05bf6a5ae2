import { ApiError, authRoutes, isUuid } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';

export const refreshToken = ({ users, sessions, accessTokens }: Features) =>
  route(authRoutes.refreshToken, async ({ identity }) => {
    const { project } = identity;
    const { user, sessionId } = await users.findBySession(identity);
    const session = await sessions.extend(project.number, sessionId, user.id);
    const token = await accessTokens.issue(project.id, session);
    return { body: { token, user: users.present(user) } };
  });

export const signOut = ({ users, sessions, signInEvents, database }: Features) =>
  route(authRoutes.signOut, async ({ body, identity }) => {
    const { project } = identity;
    const { user, sessionId } = await users.findBySession(identity);
    await database.transaction(async () => {
      if (body?.all) await sessions.endAll(project.number, user.id);
      else await sessions.end(project.number, sessionId);
      const detail = body?.all ? 'everywhere' : undefined;
      await signInEvents.add(identity, user.id, { kind: 'signed_out', detail });
    });
    return { body: { ok: true as const } };
  });

export const listMySessions = ({ users, sessions }: Features) =>
  route(authRoutes.listMySessions, async ({ identity }) => {
    const { user, sessionId } = await users.findBySession(identity);
    const listed = await sessions.list(identity.project.number, user.id);
    const items = listed.map((session) => ({ ...session, isCurrent: session.id === sessionId }));
    return { body: { items, hasMore: false, nextCursor: null } };
  });

export const endOtherSessions = ({ users, sessions, signInEvents, database }: Features) =>
  route(authRoutes.endOtherSessions, async ({ identity }) => {
    const { user, sessionId } = await users.findBySession(identity);
    await database.transaction(async () => {
      await sessions.endAll(identity.project.number, user.id, sessionId);
      await signInEvents.add(identity, user.id, { kind: 'signed_out', detail: 'everywhere else' });
    });
    return { body: { ok: true as const } };
  });

export const endMySession = ({ users, sessions, signInEvents, database }: Features) =>
  route(authRoutes.endMySession, async ({ params: { sessionId }, identity }) => {
    const { user } = await users.findBySession(identity);
    await database.transaction(async () => {
      const isEnded =
        isUuid(sessionId) && (await sessions.end(identity.project.number, sessionId, user.id));
      if (!isEnded) throw new ApiError('not_found', 'You have no such session.');
      await signInEvents.add(identity, user.id, { kind: 'signed_out', detail: 'another device' });
    });
    return { body: { ok: true as const } };
  });

export const getJwks = ({ signingKeys }: Features) =>
  route(authRoutes.getJwks, async () => ({
    body: await signingKeys.jwks(),
    headers: { 'Cache-Control': 'public, max-age=300' },
  }));
