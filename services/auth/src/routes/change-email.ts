import { ApiError, authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { hashIp } from '../attempts.ts';
import type { Features } from '../features.ts';

const wrongPassword = () => new ApiError('invalid_credentials', '"password": is wrong.');

/** Answers the same whether somebody has the new address or not. A wrong password counts as a failed sign-in does. */
export const changeEmail = (features: Features) =>
  route(
    authRoutes.changeEmail,
    async ({ body, identity, signal }) => {
      const { users, passwords, emailChanges, attempts, counters, database } = features;
      const { project, ip } = identity;
      const { user } = await users.findBySession(identity);
      if (body.email === user.email)
        throw new ApiError('invalid_body', '"email": is your address already.');
      const found = await users.findByEmail(project.number, user.email, hashIp(ip));

      const verify = () =>
        attempts.countFailures(project.number, counters.signIn(user.email, ip, found), async () => {
          const stored = found?.password_hash;
          const isRight = await passwords.verify({ project, ip, signal }, stored, body.password);
          return isRight ? found : undefined;
        });
      const counted = counters.emailChanges(user.id, ip);
      const account = await attempts.countCalls(project.number, counted, verify);
      if (!account) throw wrongPassword();

      return {
        body: { ok: true as const },
        commit: () =>
          database.transaction(async () => {
            const locked = await users.lock(project.number, user.id);
            if (locked?.password_version !== account.password_version) throw wrongPassword();
            await emailChanges.request(identity, locked, body.email);
          }),
      };
    },
    features.passwords.hashingRoute,
  );

export const confirmEmailChange = ({ emailChanges }: Features) =>
  route(authRoutes.confirmEmailChange, async ({ body: { token }, identity: { project } }) => {
    const changed = await emailChanges.confirm(project.number, token);
    return { body: { ok: true as const, changed } };
  });
