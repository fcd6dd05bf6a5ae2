import { ApiError, authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Features } from '../features.ts';
import { addressOfAnother } from '../guests/guests.ts';
import { checkPassword } from '../passwords/rules.ts';
import { checkMaySignUp } from '../sign-in/sign-up-rules.ts';
import { sessionEnded } from '../users/refusals.ts';

export const signUp = (features: Features) =>
  route(
    authRoutes.signUp,
    async ({ body, identity, signal, header }) => {
      const { users, guests, passwords, links, database, beginSession } = features;
      const { attempts, counters, invites, proofOfWork } = features;
      const { project, ip } = identity;
      await checkMaySignUp(features, identity, body);
      await checkPassword(body.password, body.email);

      const counted = counters.signUp(project.number, ip);
      const hash = async () => {
        await users.checkEmailFree(project.number, body.email).catch((error: unknown) => {
          throw guest ? addressOfAnother() : error;
        });
        return passwords.hash({ project, ip, signal }, body.password);
      };
      const asked = { identity, call: 'signUp', header: header('backlot-proof') };
      const prove = () => proofOfWork.check(asked);
      const guest = await guests.findCaller(identity);
      const passwordHash = await attempts.countCalls(project.number, counted, hash, prove);
      const { email, name = null } = body;
      const account = guest
        ? {
            ...guest,
            email,
            name: name ?? guest.name,
            password_hash: passwordHash,
            is_guest: false,
          }
        : users.create({ email, name, passwordHash, emailVerified: false });
      const begun = await beginSession(identity, account, { method: 'sign-up' });
      return {
        body: begun.body,
        commit: () =>
          database.transaction(async () => {
            const caller = guest && (await guests.findCaller(identity));
            if (guest && !caller) throw sessionEnded();
            await (caller
              ? guests.upgrade(project.number, caller, { email, name, passwordHash })
              : users.add(project.number, account));
            if (!(await begun.commit()))
              throw new ApiError('internal', 'The new account has no session.');
            if (body.invitation !== undefined)
              await invites.joinAs(project.number, account.id, body.invitation);
            await links.send(identity, 'verify', { ...account, email: body.email });
            database.afterCommit(() => features.noteNewcomer(project.number, account));
          }),
      };
    },
    features.passwords.hashingRoute,
  );
