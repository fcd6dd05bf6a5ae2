import { ApiError, authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';
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
