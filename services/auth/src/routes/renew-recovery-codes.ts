import { ApiError, authRoutes } from '@backlot/contract';
import { route } from '@backlot/http';
import { wrongCode } from '../factors/factors.ts';
import type { Features } from '../features.ts';

const noApp = () =>
  new ApiError(
    'conflict',
    'Recovery codes belong to an authenticator app; this account has none.',
    {
      hint: 'POST /auth/factors/totp begins with one; its first code answers ten recovery codes.',
    },
  );

export const renewRecoveryCodes = (features: Features) =>
  route(authRoutes.renewRecoveryCodes, async ({ body, identity }) => {
    const { users, totps, factors, recoveryCodes, attempts, counters } = features;
    const { signInEvents, database } = features;
    const { number } = identity.project;
    const { user } = await users.findBySession(identity);
    const requireApp = async () => {
      if (!(await totps.find(number, user.id))?.isConfirmed) throw noApp();
    };
    await requireApp();
    const counted = counters.factorGuesses(user.id, identity.ip, false);
    const checked = await attempts.countFailures(number, counted, () =>
      factors.check(number, user.id, body.code),
    );
    if (!checked) throw wrongCode();
    const codes = recoveryCodes.create();
    return {
      body: { recoveryCodes: codes },
      commit: () =>
        database.transaction(async () => {
          await users.lock(number, user.id);
          await users.findBySession(identity);
          await requireApp();
          if (!(await checked.use())) throw wrongCode();
          await recoveryCodes.store(number, user.id, codes);
          const event = { kind: 'recovery_codes_renewed', detail: 'recovery codes' } as const;
          await signInEvents.add(identity, user.id, event);
        }),
    };
  });
