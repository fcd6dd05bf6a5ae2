import { ApiError, authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { hashIp } from '../counters.ts';
import { wrongCode } from '../factors/factors.ts';
import { unconfirmed } from '../factors/totp.ts';
import { signInExpired } from '../factors/waiting-sign-ins.ts';
import type { Features } from '../features.ts';
import type { SignIn } from '../sign-in/begin-session.ts';
import { requireRecentProof } from '../sign-in/recent-proof.ts';
import { isFactorRequired } from '../sign-in/required-factor.ts';
import type { SignedIn } from '../users/user-reads.ts';
import { requireAddress } from '../users/user-row.ts';

/**
 * Who has one factor of two and has set up the second before signs in with it: a stolen password would else
 * add another. @throws ApiError factor_first
 */
export const checkMaySetUp = async (
  { users }: Features,
  { project }: Identity,
  { user, hasSecondFactor }: SignedIn,
): Promise<void> => {
  if (hasSecondFactor || !isFactorRequired(project, user)) return;
  const account = await users.find(project.number, user.id);
  if (!account?.has_totp && !account?.has_passkey) return;
  throw new ApiError('factor_first', 'Sign in with your second factor first.', {
    hint: 'POST /auth/signin answers a factorToken; a passkey signs in by itself. Who has lost theirs asks the owner of the app, who can reset them.',
  });
};

export const createTotp = (features: Features) =>
  route(authRoutes.createTotp, async ({ identity }) => {
    const { users, totps, database } = features;
    const { number, name } = identity.project;
    const signedIn = await users.findBySession(identity);
    const label = requireAddress(signedIn.user);
    await checkMaySetUp(features, identity, signedIn);
    requireRecentProof(signedIn);
    const { id } = signedIn.user;
    return {
      transact: () =>
        database.transaction(async () => {
          await users.lock(number, id);
          return { body: await totps.setUp(number, id, { issuer: name, label }) };
        }),
    };
  });

export const confirmTotp = (features: Features) =>
  route(authRoutes.confirmTotp, async ({ body, identity }) => {
    const { users, factors, recoveryCodes, sessions, attempts, counters, database } = features;
    const { signInEvents } = features;
    const { number } = identity.project;
    const signedIn = await users.findBySession(identity);
    await checkMaySetUp(features, identity, signedIn);
    const { id } = signedIn.user;
    const counted = counters.factorGuesses(id, identity.ip, false);
    const checked = await attempts.countFailures(number, counted, () =>
      factors.checkFirst(number, id, body.code),
    );
    if (!checked) throw wrongCode();
    const codes = recoveryCodes.create();
    return {
      body: { recoveryCodes: codes },
      commit: () =>
        database.transaction(async () => {
          await users.lock(number, id);
          const { sessionId } = await users.findBySession(identity);
          if (!(await checked.use())) throw unconfirmed();
          await factors.begin(number, id, codes);
          await sessions.endAll(number, id, sessionId);
          await factors.markSession(number, id, sessionId);
          await signInEvents.add(identity, id, { kind: 'factor_added', detail: 'totp' });
        }),
    };
  });

export const listFactors = ({ users, factors }: Features) =>
  route(authRoutes.listFactors, async ({ identity }) => {
    const { user } = await users.findBySession(identity);
    return { body: await factors.list(identity.project.number, user.id) };
  });

export const deleteFactor = (features: Features) =>
  route(authRoutes.deleteFactor, async ({ params, body, identity }) => {
    const { users, factors, attempts, counters, signInEvents, database } = features;
    const { number } = identity.project;
    const { user } = await users.findBySession(identity);
    await factors.require(number, user.id, params.id);
    const counted = counters.factorGuesses(user.id, identity.ip, false);
    const checked = await attempts.countFailures(number, counted, () =>
      factors.check(number, user.id, body.code),
    );
    if (!checked) throw wrongCode();
    return {
      body: { ok: true as const },
      commit: () =>
        database.transaction(async () => {
          await users.lock(number, user.id);
          await factors.require(number, user.id, params.id);
          if (!(await checked.use())) throw wrongCode();
          await factors.endTotp(number, user.id);
          await signInEvents.add(identity, user.id, { kind: 'factor_removed', detail: 'totp' });
        }),
    };
  });

export const verifyFactor = (features: Features) =>
  route(authRoutes.verifyFactor, async ({ body, identity }) => {
    const { users, factors, waitingSignIns, rememberedDevices, attempts, counters } = features;
    const { beginSession, signInEvents, database } = features;
    const { ip, project } = identity;
    const { number } = project;
    const { factorToken, code } = body;
    const waiting = await waitingSignIns.find(number, factorToken, hashIp(ip));
    const { userId, passwordVersion, isIpKnown } = waiting;
    const account = await users.find(number, userId);
    if (account?.password_version !== passwordVersion) throw signInExpired();
    const counted = counters.factorGuesses(userId, ip, isIpKnown);
    const checked = await attempts.countFailures(number, counted, () =>
      factors.check(number, userId, code),
    );
    if (!checked) {
      await signInEvents.add(identity, userId, { kind: 'failed', detail: 'second factor' });
      throw wrongCode();
    }
    const method = waiting.method as SignIn['method'];
    const begun = await beginSession(identity, account, {
      method,
      hasSecondFactor: true,
      merge: body.merge,
    });
    const deviceToken = body.remember ? rememberedDevices.newToken() : undefined;
    return {
      body: { ...begun.body, ...(deviceToken !== undefined && { deviceToken }) },
      commit: () =>
        database.transaction(async () => {
          await users.lock(number, userId);
          if (!(await waitingSignIns.finish(number, factorToken))) throw signInExpired();
          if (!(await checked.use())) throw wrongCode();
          if (!(await begun.commit())) throw signInExpired();
          if (deviceToken !== undefined)
            await rememberedDevices.store(number, account, deviceToken);
        }),
    };
  });
