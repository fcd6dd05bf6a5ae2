import { describe, expect, it } from '@jest/globals';
import { paymentsConfig } from './config.ts';

const needed = { BACKLOT_SECRETS_KEYS: Buffer.alloc(32).toString('base64') };

describe('the settings', () => {
  it('uses the real Stripe by default', () => {
    expect(paymentsConfig.read(needed)).toMatchObject({
      publicUrl: 'http://localhost:8080',
      stripe: { url: 'https://api.stripe.com', timeoutMs: 8000, retries: 1 },
    });
    const url = 'http://127.0.0.1:4031';
    expect(paymentsConfig.read({ ...needed, BACKLOT_STRIPE_URL: url })).toMatchObject({
      stripe: { url },
    });
  });

  it.each(paymentsConfig.names.filter((name) => !(name in needed)))(
    'takes an empty %s for one that is not set',
    (name) => {
      expect(paymentsConfig.read({ ...needed, [name]: '' })).toEqual(paymentsConfig.read(needed));
    },
  );

  it.each([
    ['BACKLOT_STRIPE_URL', 'https://api.stripe.com/v1'],
    ['BACKLOT_TEST_CHECKOUT', 'false'],
    ['BACKLOT_SECRETS_KEYS', 'short'],
    ['BACKLOT_SECRETS_KEYS', ''],
    ['BACKLOT_PUBLIC_URL', 'ftp://x'],
  ])('refuses %s=%s, naming it', (name, value) => {
    expect(() => paymentsConfig.read({ ...needed, [name]: value })).toThrow(name);
  });
});
