import { ApiError, authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { addressDigest } from '../attempts.ts';
import type { Nouns } from '../nouns.ts';
import { normalizeEmail, presentUser } from '../users.ts';

/** Takes the same statements and the same hash for an address that nobody has. */
export const signIn = (nouns: Nouns) =>
  route(authRoutes.signIn, async ({ body, identity }) => {
    const { users, passwords, sessions, tokens, attempts, counters } = nouns;
    const { project, ip } = identity;
    const email = normalizeEmail(body.email);
    const account = await users.findByEmail(project.number, email, addressDigest(ip));

    const signedIn = await attempts.countFailures(
      project.number,
      counters.signIn(email, ip, account),
      async () => {
        const isRight = await passwords.verify(
          project.number,
          account?.password_hash,
          body.password,
        );
        if (!account || !isRight) return undefined;
        const session = await sessions.start(project.number, account, addressDigest(ip));
        return session && { account, session };
      },
    );
    if (!signedIn) throw new ApiError('invalid_credentials', 'E-mail or password is wrong.');

    await passwords.refreshHash(project.number, signedIn.account, body.password);
    const token = await tokens.issue(project.id, signedIn.session);
    return { body: { token, user: presentUser(signedIn.account) } };
  });
