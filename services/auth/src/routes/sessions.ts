import { authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';
import { presentUser } from '../users/user-row.ts';

export const refreshToken = ({ users, sessions, accessTokens }: Features) =>
  route(authRoutes.refreshToken, async ({ identity }) => {
    const { project } = identity;
    const { user, sessionId } = await users.findBySession(identity);
    const session = await sessions.extend(project.number, sessionId, user.id);
    const token = await accessTokens.issue(project.id, session);
    return { body: { token, user: presentUser(user) } };
  });

export const signOut = ({ users, sessions }: Features) =>
  route(authRoutes.signOut, async ({ body, identity }) => {
    const { project } = identity;
    const { user, sessionId } = await users.findBySession(identity);
    if (body?.all) await sessions.endAll(project.number, user.id);
    else await sessions.end(project.number, sessionId);
    return { body: { ok: true as const } };
  });

export const getJwks = ({ signingKeys }: Features) =>
  route(authRoutes.getJwks, async () => ({
    body: await signingKeys.jwks(),
    headers: { 'Cache-Control': 'public, max-age=300' },
  }));
