import { ApiError, authRoutes, normalizeEmail } from '@backlot/contract';
import { route } from '@backlot/http';
import { hashIp } from '../attempts.ts';
import type { Features } from '../features.ts';
import { findByPassword } from '../passwords/find-by-password.ts';
import { presentUser } from '../users/user-row.ts';

const wrongCredentials = () => new ApiError('invalid_credentials', 'E-mail or password is wrong.');

export const signIn = (features: Features) =>
  route(
    authRoutes.signIn,
    async ({ body, identity, signal }) => {
      const { passwords, sessions, signingKeys, accessTokens, database } = features;
      const { project, ip } = identity;
      const caller = { project, ip, signal };
      const email = normalizeEmail(body.email);
      // Without a key no session begins that nobody would have a token for.
      await signingKeys.signer();
      const account = await findByPassword(features, caller, email, body.password);
      if (!account) throw wrongCredentials();

      const rehash = await passwords.rehash(caller, account.password_hash, body.password);
      const session = sessions.create(account.id);
      const token = await accessTokens.issue(project.id, session);
      return {
        body: { token, user: presentUser(account) },
        commit: () =>
          database.transaction(async () => {
            if (!(await sessions.start(project.number, session, account, hashIp(ip))))
              throw wrongCredentials();
            if (rehash) await passwords.storeRehash(project.number, account, rehash);
          }),
      };
    },
    features.passwords.hashingRoute,
  );
