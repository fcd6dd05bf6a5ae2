import { authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { hashIp } from '../attempts.ts';
import type { Features } from '../features.ts';
import { invalidLink } from '../links/links.ts';
import { handOver, hashUnknownPassword, isOwnClick } from '../links/own-click.ts';
import { checkPassword } from '../passwords/rules.ts';

/** Past the limit of mails an address gets none, silently. */
export const forgotPassword = ({ users, links, attempts, counters }: Features) =>
  route(authRoutes.forgotPassword, async ({ body: { email }, identity: { project, ip } }) => {
    await attempts.countCalls(project.number, counters.resetCallsFrom(ip), async () => {
      if (!(await attempts.isAllowed(project.number, counters.resetMailsTo(email)))) return;
      const user = await users.findByEmail(project.number, email, hashIp(ip));
      await links.sendIfKnown({ project, ip }, 'reset', email, user);
    });
    return { body: { ok: true as const } };
  });

/** Whoever follows the mailed link has shown that the address is theirs, so it counts as verified. */
export const resetPassword = (features: Features) =>
  route(
    authRoutes.resetPassword,
    async ({ body, identity, signal }) => {
      const { project, ip } = identity;
      const { users, passwords, sessions, links, emailChanges, database } = features;
      const { id, email } = await links.findAccount(project.number, body.token, 'reset');
      await checkPassword(body.password, email);
      const passwordHash = await passwords.hash({ project, ip, signal }, body.password);
      return {
        body: { ok: true as const },
        commit: () =>
          database.transaction(async () => {
            const account = await links.use(project.number, id, body.token, 'reset');
            if (!(await passwords.change(project.number, account, passwordHash)))
              throw invalidLink();
            await users.update(project.number, id, { emailVerified: true });
            await emailChanges.revoke(project.number, id);
            await sessions.endAll(project.number, id);
          }),
      };
    },
    features.passwords.hashingRoute,
  );

/**
 * The first proof of an address ends what stood before it, the password too, unless who follows the link has
 * the account as well.
 */
export const verifyEmail = (features: Features) =>
  route(
    authRoutes.verifyEmail,
    async ({ body: { token, password }, identity, signal }) => {
      const { users, links, emailChanges, database } = features;
      const { number } = identity.project;
      const click = { identity, signal, password };
      const found = await links.findAccount(number, token, 'verify');
      const isOwn = await isOwnClick(features, click, found);
      const isFirstProof = !found.email_verified && !isOwn;
      const unknownPassword = isFirstProof && (await hashUnknownPassword(features, click));
      return {
        body: { ok: true as const },
        commit: () =>
          database.transaction(async () => {
            const account = await links.use(number, found.id, token, 'verify');
            await users.update(number, found.id, { emailVerified: true });
            if (account.email_verified || unknownPassword === false) return;
            await emailChanges.revoke(number, found.id);
            await handOver(features, click, account, unknownPassword);
          }),
      };
    },
    features.passwords.hashingRoute,
  );
