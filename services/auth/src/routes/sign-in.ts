import { ApiError, authRoutes, normalizeEmail } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';
import { findByPassword } from '../passwords/find-by-password.ts';

const wrongCredentials = () => new ApiError('invalid_credentials', 'E-mail or password is wrong.');

export const signIn = (features: Features) =>
  route(
    authRoutes.signIn,
    async ({ body, identity, signal, header }) => {
      const { passwords, signingKeys, database, beginSession, proofOfWork } = features;
      const { project } = identity;
      const caller = { ...identity, signal };
      const email = normalizeEmail(body.email);
      // Without a key no session begins that nobody would have a token for.
      await signingKeys.signer();
      const asked = { identity, call: 'signIn', header: header('backlot-proof') };
      const prove = () => proofOfWork.check(asked);
      const account = await findByPassword(features, caller, email, body.password, prove);
      if (!account) throw wrongCredentials();

      const rehash = await passwords.rehash(caller, account.password_hash, body.password);
      const begun = await beginSession(identity, account, {
        method: 'password',
        deviceToken: body.deviceToken,
        merge: body.merge,
      });
      return {
        body: begun.body,
        commit: () =>
          database.transaction(async () => {
            if (!(await begun.commit())) throw wrongCredentials();
            if (rehash) await passwords.storeRehash(project.number, account, rehash);
          }),
      };
    },
    features.passwords.hashingRoute,
  );
