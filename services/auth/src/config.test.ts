import { describe, expect, it } from '@jest/globals';
import { readAuthConfig } from './config.ts';

const masterKey = Buffer.alloc(32, 1).toString('base64');

describe('readAuthConfig', () => {
  it("has the contract's figures as defaults", () => {
    const config = readAuthConfig({ BACKLOT_AUTH_MASTER_KEY: masterKey }, { hashConcurrency: 1 });
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

  it('takes an empty variable for an unset one', () => {
    const env = { BACKLOT_AUTH_MASTER_KEY: masterKey, BACKLOT_SESSION_DAYS: '' };
    expect(readAuthConfig(env).sessionMs).toBe(30 * 86_400_000);
  });

  it("prefers the environment to the process's default", () => {
    const env = { BACKLOT_AUTH_MASTER_KEY: masterKey, BACKLOT_HASH_CONCURRENCY: '3' };
    expect(readAuthConfig(env, { hashConcurrency: 1 }).hashing).toEqual({
      concurrency: 3,
      queueLength: 120,
    });
  });

  it.each([
    [{}, 'BACKLOT_AUTH_MASTER_KEY'],
    [{ BACKLOT_AUTH_MASTER_KEY: 'c2hvcnQ=' }, 'BACKLOT_AUTH_MASTER_KEY'],
    [{ BACKLOT_AUTH_MASTER_KEY: masterKey, BACKLOT_SESSION_DAYS: '0' }, 'BACKLOT_SESSION_DAYS'],
    [{ BACKLOT_AUTH_MASTER_KEY: masterKey, BACKLOT_HASH_QUEUE: 'many' }, 'BACKLOT_HASH_QUEUE'],
  ])('names the variable that is wrong (%#)', (env, name) => {
    expect(() => readAuthConfig(env)).toThrow(name);
  });
});
