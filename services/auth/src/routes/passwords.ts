import { ApiError, authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { hashIp } from '../counters.ts';
import type { Features } from '../features.ts';
import { invalidLink } from '../links/links.ts';
import { findByPassword } from '../passwords/find-by-password.ts';
import { checkPassword } from '../passwords/rules.ts';
import { requireAddress } from '../users/user-row.ts';

const wrongPassword = () => new ApiError('invalid_credentials', '"currentPassword": is wrong.');

/** A wrong current password counts as a failed sign-in does. */
export const changePassword = (features: Features) =>
  route(
    authRoutes.changePassword,
    async ({ body, identity, signal }) => {
      const { users, passwords, sessions, links, emailChanges, database, signInEvents } = features;
      const { project } = identity;
      const caller = { ...identity, signal };
      const { user, sessionId } = await users.findBySession(identity);
      const { id } = user;
      const email = requireAddress(user);
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
            await signInEvents.add(identity, id, { kind: 'password_changed' });
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
      const { passwords, proofs, sessions, links, emailChanges, database, signInEvents } = features;
      const found = await links.findAccount(project.number, body.token, 'reset');
      const { id } = found;
      await checkPassword(body.password, requireAddress(found));
      const passwordHash = await passwords.hash({ project, ip, signal }, body.password);
      return {
        body: { ok: true as const },
        commit: () =>
          database.transaction(async () => {
            const locked = await links.use(project.number, id, body.token, 'reset');
            const { account } = await proofs.prove(project.number, locked, { isOwn: false });
            if (!(await passwords.change(project.number, account, passwordHash)))
              throw invalidLink();
            await emailChanges.revoke(project.number, id);
            await sessions.endAll(project.number, id);
            await signInEvents.add(identity, id, {
              kind: 'password_changed',
              detail: 'mailed link',
            });
          }),
      };
    },
    features.passwords.hashingRoute,
  );
