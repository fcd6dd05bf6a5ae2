import { authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { presentUser } from '../users.ts';

export const refreshToken = ({ users, sessions, tokens }: Nouns) =>
  route(authRoutes.refreshToken, async ({ identity }) => {
    const { project } = identity;
    const { user, sessionId } = await users.ofSession(identity);
    const session = await sessions.extend(project.number, sessionId, user.id);
    return { body: { token: await tokens.issue(project.id, session), user: presentUser(user) } };
  });
