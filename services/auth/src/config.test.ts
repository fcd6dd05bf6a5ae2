import { describe, expect, it } from '@jest/globals';
import { authConfig } from './config.ts';

const masterKey = Buffer.alloc(32, 1).toString('base64');
const needed = { BACKLOT_AUTH_MASTER_KEY: masterKey, BACKLOT_SECRETS_KEYS: masterKey };

describe('the settings', () => {
  it('have the figures of docs/api.md as defaults', () => {
    const config = authConfig.read({
      ...needed,
      BACKLOT_HASH_CONCURRENCY: '1',
    });
    expect(config).toMatchObject({
      issuer: 'backlot',
      sessionMs: 30 * 86_400_000,
      argon2: { memoryKib: 19_456, passes: 2, lanes: 1 },
      hashing: { concurrency: 1, queueLength: 40 },
      limits: {
        signInPerEmail: { max: 10, windowMs: 900_000 },
        signInPerIp: { max: 30, windowMs: 900_000 },
        signUpPerIp: { max: 100, windowMs: 3_600_000 },
      },
    });
  });

  it('count as unset where they are empty', () => {
    const empty = Object.fromEntries(authConfig.names.map((name) => [name, '']));
    expect(authConfig.read({ ...empty, ...needed })).toEqual(authConfig.read(needed));
    expect(() => authConfig.read(empty)).toThrow('BACKLOT_AUTH_MASTER_KEY');
  });

  it('let as many hashes wait as their number asks for', () => {
    const env = { ...needed, BACKLOT_HASH_CONCURRENCY: '3' };
    expect(authConfig.read(env).hashing).toEqual({ concurrency: 3, queueLength: 120 });
  });

  it.each([
    [{}, 'BACKLOT_AUTH_MASTER_KEY'],
    [{ BACKLOT_AUTH_MASTER_KEY: 'c2hvcnQ=' }, 'BACKLOT_AUTH_MASTER_KEY'],
    [{ BACKLOT_AUTH_MASTER_KEY: masterKey }, 'BACKLOT_SECRETS_KEYS'],
    [{ ...needed, BACKLOT_SESSION_DAYS: '0' }, 'BACKLOT_SESSION_DAYS'],
    [{ ...needed, BACKLOT_HASH_CONCURRENCY: 'many' }, 'BACKLOT_HASH_CONCURRENCY'],
  ])('names the variable that is wrong (%#)', (env, name) => {
    expect(() => authConfig.read(env)).toThrow(name);
  });
});
