import { testIdentityKeys, testIdentityKeysSetting } from '@backlot/testing';
import { expect, it } from '@jest/globals';
import { parseConfig } from './config.ts';
import { hashToken } from './directory/hash-token.ts';

const env = {
  BACKLOT_IDENTITY_KEYS: testIdentityKeysSetting('gateway'),
  BACKLOT_AUTH_ORIGIN: 'http://auth:8081/',
  BACKLOT_PROJECTS_ORIGIN: 'http://projects:8087',
  BACKLOT_RECORDS_ORIGIN: 'http://records:8082',
  BACKLOT_AI_ORIGIN: 'http://ai:8083',
  BACKLOT_STORAGE_ORIGIN: 'http://storage:8084',
  BACKLOT_EMAIL_ORIGIN: 'http://email:8085',
  BACKLOT_PAYMENTS_ORIGIN: 'http://payments:8086',
  REDIS_URL: 'redis://redis:6379',
  AMQP_URL: 'amqp://rabbitmq:5672',
};

it('needs its keys and the services, the rest has defaults', () => {
  expect(parseConfig(env)).toEqual({
    port: 8080,
    metricsPort: undefined,
    redisUrl: 'redis://redis:6379',
    redisTimeoutMs: 100,
    reservationTtlMs: 360_000,
    amqpUrl: 'amqp://rabbitmq:5672',
    logLevel: 'info',
    tracing: { url: undefined, share: 1 },
    identityKeys: testIdentityKeys('gateway'),
    origins: {
      auth: 'http://auth:8081',
      projects: 'http://projects:8087',
      records: 'http://records:8082',
      ai: 'http://ai:8083',
      storage: 'http://storage:8084',
      email: 'http://email:8085',
      payments: 'http://payments:8086',
    },
    gateway: {
      issuer: 'backlot',
      operatorTokenHash: undefined,
      trustedProxies: 0,
      addressBounds: {
        callers: 10,
        failedLookups: 600,
        pages: 3000,
        connections: 2000,
        openCalls: 500,
        streams: 1000,
        bodyBytes: 64 * 1024 * 1024,
      },
      publicUrl: 'http://localhost:8080',
      accessLog: false,
      priceChanges: {},
    },
  });
});

it('reads the operator’s prices', () => {
  const config = parseConfig({ ...env, BACKLOT_PRICES: '{"sendEmail": 2000}' });
  expect(config.gateway.priceChanges).toEqual({ sendEmail: 2000 });
});

it('keeps the operator token as its hash only', () => {
  const config = parseConfig({ ...env, BACKLOT_OPERATOR_TOKEN: 'a-long-operator-token' });
  expect(config.gateway.operatorTokenHash).toBe(hashToken('a-long-operator-token'));
  expect(JSON.stringify(config)).not.toContain('a-long-operator-token');
});

it('names every wrong setting and shows no value', () => {
  const wrong = {
    BACKLOT_IDENTITY_KEYS: 'gateway-auth:short',
    BACKLOT_OPERATOR_TOKEN: `bk_${'x'.repeat(43)}`,
    BACKLOT_AUTH_ORIGIN: 'http://auth/path',
    PORT: '70000',
    BACKLOT_PRICES: '{"sendMail": 1}',
  };
  const read = () => parseConfig({ ...env, ...wrong });
  for (const name of Object.keys(wrong)) expect(read).toThrow(name);
  expect(read).not.toThrow(/short|xxx/);
});

it('needs a key for each service, and takes none of another process', () => {
  const keys = env.BACKLOT_IDENTITY_KEYS;
  const read = (BACKLOT_IDENTITY_KEYS: string) => () =>
    parseConfig({ ...env, BACKLOT_IDENTITY_KEYS });
  expect(read(keys.replace(/gateway-email:[^,]+,/, ''))).toThrow('there is no key gateway-email');
  expect(read(`${keys},email-auth:${'x'.repeat(32)}`)).toThrow('email-auth is no key of gateway');
});
