import { authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';

export const verifyEmail = ({ users, oneTimeTokens, database }: Nouns) =>
  route(authRoutes.verifyEmail, async ({ body: { token }, identity: { project } }) => {
    const { id } = await oneTimeTokens.owner(project.number, token, 'verify');
    await database.transaction(async () => {
      await oneTimeTokens.use(project.number, id, token, 'verify');
      await users.update(project.number, id, { emailVerified: true });
    });
    return { body: { ok: true as const } };
  });
