import { ApiError, authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { addressDigest } from '../attempts.ts';
import type { Nouns } from '../nouns.ts';
import { checkPassword } from '../password-rules.ts';

/** A wrong current password counts as a failed sign-in does. */
export const changePassword = (nouns: Nouns) =>
  route(authRoutes.changePassword, async ({ body, identity }) => {
    const { users, passwords, sessions, oneTimeTokens, attempts, counters, database } = nouns;
    const { project, ip } = identity;
    const { user, sessionId } = await users.ofSession(identity);
    const { id, email } = user;
    await checkPassword(body.newPassword, email);
    const account = await users.findByEmail(project.number, email, addressDigest(ip));

    const changed = await attempts.countFailures(
      project.number,
      counters.signIn(email, ip, account),
      async () => {
        const isRight = await passwords.verify(
          project.number,
          account?.password_hash,
          body.currentPassword,
        );
        if (!account || !isRight) return undefined;
        const passwordHash = await passwords.hash(project.number, body.newPassword);
        return database.transaction(async () => {
          if (!(await passwords.replace(project.number, account, passwordHash))) return undefined;
          await oneTimeTokens.revoke(project.number, id, 'reset');
          await sessions.endAll(project.number, id, sessionId);
          return true;
        });
      },
    );
    if (!changed) throw new ApiError('invalid_credentials', '"currentPassword": is wrong.');
    return { body: { ok: true as const } };
  });
