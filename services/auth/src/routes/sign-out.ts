import { authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';

export const signOut = ({ users, sessions }: Nouns) =>
  route(authRoutes.signOut, async ({ body, identity }) => {
    const { project } = identity;
    const { user, sessionId } = await users.ofSession(identity);
    if (body?.all) await sessions.endAll(project.number, user.id);
    else await sessions.end(project.number, sessionId);
    return { body: { ok: true as const } };
  });
