import { ApiError, authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { wrongCode } from '../factors/factors.ts';
import type { Features } from '../features.ts';
import { findByPassword } from '../passwords/find-by-password.ts';
import type { HashCaller } from '../passwords/passwords.ts';
import { requireRecentProof } from '../sign-in/recent-proof.ts';
import type { EventCaller } from '../sign-in-events/place.ts';
import { requireAddress, type UserRow } from '../users/user-row.ts';

const wrongPassword = () => new ApiError('invalid_credentials', '"password": is wrong.');

type Caller = HashCaller & EventCaller;

/** What takes the proof, in the transaction of what it allows; false where it is good no more. */
type Take = () => Promise<boolean>;

/** @throws ApiError invalid_credentials, too_many_attempts, overloaded */
const byPassword = async (
  features: Features,
  caller: Caller,
  user: UserRow,
  password: string,
): Promise<Take> => {
  const { number } = caller.project;
  const account = await findByPassword(features, caller, requireAddress(user), password);
  if (account?.id !== user.id) throw wrongPassword();
  return async () =>
    (await features.users.find(number, user.id))?.password_version === account.password_version;
};

/** @throws ApiError invalid_credentials, too_many_attempts, secrets_unreadable */
const byCode = async (
  { factors, attempts, counters, signInEvents }: Features,
  caller: Caller,
  user: UserRow,
  code: string,
): Promise<Take> => {
  const { number } = caller.project;
  const counted = counters.factorGuesses(user.id, caller.ip, false);
  const checked = await attempts.countFailures(number, counted, () =>
    factors.check(number, user.id, code),
  );
  if (checked) return checked.use;
  await signInEvents.add(caller, user.id, { kind: 'failed', detail: 'second factor' });
  throw wrongCode();
};

export const reauthenticate = (features: Features) =>
  route(
    authRoutes.reauthenticate,
    async ({ body, identity, signal }) => {
      const { users, sessions, database } = features;
      const { number } = identity.project;
      const { password, code } = body ?? {};
      const caller = { ...identity, signal };
      const signedIn = await users.findBySession(identity);
      const { user } = signedIn;
      requireAddress(user);
      const done = { ok: true as const };
      if (password === undefined && code === undefined) {
        requireRecentProof(signedIn);
        return { body: done };
      }
      const take =
        password !== undefined
          ? await byPassword(features, caller, user, password)
          : await byCode(features, caller, user, String(code));
      return {
        body: done,
        commit: () =>
          database.transaction(async () => {
            await users.lock(number, user.id);
            const { sessionId } = await users.findBySession(identity);
            if (!(await take())) throw password === undefined ? wrongCode() : wrongPassword();
            await sessions.prove(number, sessionId);
          }),
      };
    },
    features.passwords.hashingRoute,
  );
