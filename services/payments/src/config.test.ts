import { describe, expect, it } from '@jest/globals';
import { parseConfig } from './config.ts';

const needed = { BACKLOT_SECRETS_KEYS: Buffer.alloc(32).toString('base64') };

describe('parseConfig', () => {
  it('asks Stripe itself unless told otherwise', () => {
    expect(parseConfig(needed)).toMatchObject({
      publicUrl: 'http://localhost:8080',
      stripe: { url: 'https://api.stripe.com', timeoutMs: 8000, retries: 1 },
    });
    const url = 'http://127.0.0.1:4031';
    expect(parseConfig({ ...needed, BACKLOT_STRIPE_URL: url })).toMatchObject({ stripe: { url } });
  });

  it.each([
    ['BACKLOT_STRIPE_URL', 'https://api.stripe.com/v1'],
    ['BACKLOT_STRIPE_TIMEOUT_SECONDS', '60'],
    ['BACKLOT_STRIPE_RETRIES', '5'],
    ['BACKLOT_SECRETS_KEYS', 'short'],
    ['BACKLOT_PUBLIC_URL', 'ftp://x'],
  ])('refuses %s=%s, naming it', (name, value) => {
    expect(() => parseConfig({ ...needed, [name]: value })).toThrow(name);
  });
});
