import * as otpauth from 'otpauth';
import type { Person, TestBed } from './test-bed.ts';

const stepMs = 30_000;

/** An app that shows codes; each is of a step of its own. */
export const createAuthenticatorApp = (bed: Pick<TestBed, 'clock'>, secret: string) => {
  const totp = new otpauth.TOTP({ secret: otpauth.Secret.fromBase32(secret) });
  return {
    /** @param steps of 30 s from now */
    code: (steps = 0) => totp.generate({ timestamp: bed.clock.now() + steps * stepMs }),
    /** One that was not shown before: the clock passes to it. */
    nextCode(): string {
      bed.clock.pass(stepMs);
      return totp.generate({ timestamp: bed.clock.now() });
    },
  };
};

export type AuthenticatorApp = ReturnType<typeof createAuthenticatorApp>;

/** Gives a person an authenticator app; the session at hand goes on. */
export const setUpApp = async (
  bed: TestBed,
  { identity }: Pick<Person, 'identity'>,
): Promise<{ app: AuthenticatorApp; recoveryCodes: string[] }> => {
  const { body } = await bed.call('POST', '/auth/factors/totp', { identity });
  const app = createAuthenticatorApp(bed, body.secret);
  const confirmed = await bed.call('POST', '/auth/factors/totp/confirm', {
    identity,
    body: { code: app.nextCode() },
  });
  if (confirmed.status !== 200) throw new Error(JSON.stringify(confirmed.body));
  return { app, recoveryCodes: confirmed.body.recoveryCodes };
};
