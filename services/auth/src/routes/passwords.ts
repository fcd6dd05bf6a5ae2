import { ApiError, authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { hashIp } from '../attempts.ts';
import type { Features } from '../features.ts';
import { invalidLink } from '../links/links.ts';
import { findByPassword } from '../passwords/find-by-password.ts';
import { checkPassword } from '../passwords/rules.ts';

const wrongPassword = () => new ApiError('invalid_credentials', '"currentPassword": is wrong.');

/** A wrong current password counts as a failed sign-in does. */
export const changePassword = (features: Features) =>
  route(
    authRoutes.changePassword,
    async ({ body, identity, signal }) => {
      const { users, passwords, sessions, links, emailChanges, database } = features;
      const { project, ip } = identity;
      const caller = { project, ip, signal };
      const { user, sessionId } = await users.findBySession(identity);
      const { id, email } = user;
      await checkPassword(body.newPassword, email);
      const account = await findByPassword(features, caller, email, body.currentPassword);
      if (!account) throw wrongPassword();

      const passwordHash = await passwords.hash(caller, body.newPassword);
      return {
        body: { ok: true as const },
        commit: () =>
          database.transaction(async () => {
            const isChanged = await passwords.change(project.number, account, passwordHash);
            if (!isChanged) throw wrongPassword();
            await links.revoke(project.number, id, 'reset');
            await emailChanges.revoke(project.number, id);
            await sessions.endAll(project.number, id, sessionId);
          }),
      };
    },
    features.passwords.hashingRoute,
  );

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
