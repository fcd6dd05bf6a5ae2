import { serviceNames } from '@backlot/contract';
import { checkIdentityKeys, parseIdentityKeys } from '@backlot/identity';
import { describe, expect, it } from '@jest/globals';
import type { DatabaseUrls } from '../database/prepare-database.ts';
import { planStack } from './programs.ts';

const databaseUrls = Object.fromEntries(
  serviceNames.map((name) => [name, `postgres://${name}:x@x/x`]),
) as DatabaseUrls;
const servers = { databaseUrls, redisUrl: 'redis://x', amqpUrl: 'amqp://x' };
const secrets = {
  identitySecret: 'i',
  masterKey: 'm',
  secretsKey: 's',
  operatorToken: 'o',
  ownerPassword: 'p',
};
const plan = (settings: Record<string, string>) => {
  const { services, gateways } = planStack(8080, servers, secrets, settings, '/files');
  return [...gateways, ...services];
};

describe('the processes of the stack', () => {
  it('are two gateways and every service, each on a port of its own', () => {
    const programs = plan({});
    expect(programs.map(({ name }) => name)).toEqual(['gateway-1', 'gateway-2', ...serviceNames]);
    expect(new Set(programs.map(({ env }) => env.PORT)).size).toBe(programs.length);
  });

  it('reach PostgreSQL as themselves, gateways not at all', () => {
    const told = plan({}).map(({ env }) => env.DATABASE_URL);
    expect(told).toEqual([undefined, undefined, ...serviceNames.map((name) => databaseUrls[name])]);
  });

  it('have the identity keys of their own calls alone', () => {
    const root = 'the root of all keys';
    const { services, gateways } = planStack(
      8080,
      servers,
      { ...secrets, identitySecret: root },
      {},
      '/files',
    );
    for (const { name, env } of [...services, ...gateways]) {
      const keys = parseIdentityKeys(env.BACKLOT_IDENTITY_KEYS ?? '');
      const process = name.replace(/-\d$/, '');
      checkIdentityKeys(keys, process, process === 'gateway' ? serviceNames : []);
      expect(Object.values(env).join()).not.toContain(root);
    }
  });

  it('that hold large bodies and answers collect their buffers with the new space', () => {
    const options = plan({ NODE_OPTIONS: '--import=x' }).flatMap(({ name, env }) =>
      /^(gateway-|records$)/.test(name) ? [env.NODE_OPTIONS] : [],
    );
    expect(options).toEqual(Array(3).fill('--max-semi-space-size=16 --import=x'));
  });

  it('serve metrics on ports of their own, from the one that is given', () => {
    const ports = plan({ BACKLOT_METRICS_PORT: '9090' }).map(({ env }) => env.BACKLOT_METRICS_PORT);
    expect(ports).toEqual(ports.map((_, index) => String(9090 + index)));
    for (const { env } of plan({})) expect(env).not.toHaveProperty('BACKLOT_METRICS_PORT');
  });
});
