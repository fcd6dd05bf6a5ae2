import { ApiError, authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { hashIp } from '../attempts.ts';
import type { Features } from '../features.ts';
import { checkPassword } from '../passwords/rules.ts';
import { presentUser } from '../users/user-row.ts';

export const signUp = (features: Features) =>
  route(
    authRoutes.signUp,
    async ({ body, identity, signal }) => {
      const { users, passwords, sessions, accessTokens, links, database } = features;
      const { attempts, counters } = features;
      const { project, ip } = identity;
      await checkPassword(body.password, body.email);

      const counted = counters.signUp(project.number, ip);
      const passwordHash = await attempts.countCalls(project.number, counted, async () => {
        await users.checkEmailFree(project.number, body.email);
        return passwords.hash({ project, ip, signal }, body.password);
      });
      const account = users.create({
        email: body.email,
        name: body.name ?? null,
        passwordHash,
        emailVerified: false,
      });
      const session = sessions.create(account.id);
      const token = await accessTokens.issue(project.id, session);
      return {
        body: { token, user: presentUser(account) },
        commit: () =>
          database.transaction(async () => {
            await users.add(project.number, account);
            if (!(await sessions.start(project.number, session, account, hashIp(ip))))
              throw new ApiError('internal', 'The new account has no session.');
            await links.send(identity, 'verify', account);
          }),
      };
    },
    features.passwords.hashingRoute,
  );
