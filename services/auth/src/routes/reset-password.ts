import { authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { invalidLink } from '../one-time-tokens.ts';
import { checkPassword } from '../password-rules.ts';

/** Whoever follows the mailed link has shown that the address is theirs, so it counts as verified. */
export const resetPassword = (nouns: Nouns) =>
  route(authRoutes.resetPassword, async ({ body, identity: { project } }) => {
    const { users, passwords, sessions, oneTimeTokens, database } = nouns;
    const owner = await oneTimeTokens.owner(project.number, body.token, 'reset');
    await checkPassword(body.password, owner.email);
    const passwordHash = await passwords.hash(project.number, body.password);
    await database.transaction(async () => {
      const account = await oneTimeTokens.use(project.number, owner.id, body.token, 'reset');
      if (!(await passwords.replace(project.number, account, passwordHash))) throw invalidLink();
      await users.update(project.number, account.id, { emailVerified: true });
      await sessions.endAll(project.number, account.id);
    });
    return { body: { ok: true as const } };
  });
