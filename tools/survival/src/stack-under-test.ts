import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityKeysSetting, prepareDatabase } from '@backlot/all-in-one';
import { findFreePort } from '@backlot/local-servers';
import { startRabbitmq, startRedis, until } from '@backlot/testing';
import { type Api, apiAt } from '@backlot/testing/platform-api';
import { ask, later } from './ai-calls.ts';
import { startKeptPostgres } from './kept-postgres.ts';
import { type OsProcess, startProcess, type Victim } from './os-process.ts';
import { refuseSecretsInLogs, secretsIn } from './secrets-in-logs.ts';

export interface Owner {
  id: string;
  token: string;
}

/** A project with an owner of its own, who has exactly the credits that were asked for. */
export interface Shop {
  id: string;
  owner: Owner;
  /** A secret key, which only the project’s limit holds. */
  key: string;
}

export type VictimName =
  | 'gateway'
  | 'ai'
  | 'projects'
  | 'records'
  | 'payments'
  | 'redis'
  | 'rabbitmq'
  | 'postgres';

export interface StackUnderTest {
  /** Origins. */
  gateways: readonly [string, string];
  /** Below `/api/platform` of the first gateway. */
  control: Api;
  /** Below `/api/runtime/<project>`. */
  runtime(gateway: number, projectId: string): Api;
  operatorToken: string;
  databaseUrl: string;
  amqpUrl: string;
  redisUrl: string;
  /** Of RabbitMQ, with its password. */
  managementUrl: string;
  victims: Record<VictimName, Victim>;
  newShop(credits: number): Promise<Shop>;
  stop(): Promise<void>;
}

const services = ['auth', 'projects', 'records', 'storage', 'ai', 'email', 'payments'] as const;
const entryFile = (folder: string) => new URL(`../../../${folder}/src/main.ts`, import.meta.url);
const secret = (bytes: number) => randomBytes(bytes);
const wide = { perCaller: 1_000_000, perProject: 1_000_000 };

/** What differs from production: nothing is granted by time, a lost gateway is noticed soon. */
const settings = {
  BACKLOT_LOG_LEVEL: 'warn',
  BACKLOT_MONTHLY_CREDITS: '0',
  BACKLOT_RESERVATION_SECONDS: '20',
  // On a machine that is busy with tests an answer of Redis may be read late; falling back to local
  // limits is tested for itself.
  BACKLOT_REDIS_TIMEOUT_MS: '2000',
  BACKLOT_DEFAULT_LIMITS: JSON.stringify({ read: wide, write: wide, ai: wide, payments: wide }),
  BACKLOT_ARGON2_MEMORY_KIB: '1024',
};

/** Two gateways and the services as processes of their own, over servers of their own. */
export const startStackUnderTest = async (): Promise<StackUnderTest> => {
  const folder = await mkdtemp(join(tmpdir(), 'backlot-survival-'));
  const at = (name: string) => join(folder, name);
  /** Where the processes' logs stay, for whoever looks for a failure's cause. */
  const logs = process.env.BACKLOT_SURVIVAL_LOGS ?? folder;
  const running: { stop(): Promise<void> }[] = [];
  const keep = <T extends { stop(): Promise<void> }>(part: T): T => {
    running.push(part);
    return part;
  };
  const secrets: string[] = [];
  const stop = async () => {
    await Promise.all(running.splice(0).map((part) => part.stop()));
    if (secrets.length > 0) await refuseSecretsInLogs(logs, secrets);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };

  try {
    const [postgres, redis, rabbitmq] = await Promise.all([
      startKeptPostgres(at('postgres')).then(keep),
      startRedis({ dataDir: at('redis'), throwaway: true }).then(keep),
      startRabbitmq({ dataDir: at('rabbitmq'), throwaway: true }).then(keep),
    ]);
    const identityRoot = secret(32).toString('hex');
    const operatorToken = secret(24).toString('hex');
    const shared = {
      ...settings,
      REDIS_URL: redis.url,
      AMQP_URL: rabbitmq.url,
      BACKLOT_AUTH_MASTER_KEY: secret(32).toString('base64'),
      BACKLOT_SECRETS_KEYS: secret(32).toString('base64'),
      BACKLOT_OPERATOR_TOKEN: operatorToken,
      BACKLOT_STORAGE_DIR: at('files'),
    };
    let nextPort = 18_000 + Math.floor(Math.random() * 4_000);
    const launch = async (name: string, entry: URL, env: Record<string, string>) => {
      const port = await findFreePort(nextPort);
      nextPort = port + 1;
      secrets.push(...secretsIn(env));
      return keep(await startProcess({ entry, port, env, logFile: join(logs, `${name}.log`) }));
    };

    const databaseUrls = await prepareDatabase(postgres.url, console.warn);
    const origins: Record<string, string> = {};
    const started: Partial<Record<(typeof services)[number], OsProcess>> = {};
    for (const name of services) {
      const service = await launch(name, entryFile(`services/${name}`), {
        ...shared,
        ...origins,
        DATABASE_URL: databaseUrls[name],
        BACKLOT_IDENTITY_KEYS: identityKeysSetting(name, identityRoot),
      });
      started[name] = service;
      origins[`BACKLOT_${name.toUpperCase()}_ORIGIN`] = service.url;
    }
    const { ai, projects, records, payments } = started;
    if (!ai || !projects || !records || !payments) throw new Error('A service is missing.');
    const gateway = (name: string) =>
      launch(name, entryFile('gateway'), {
        ...shared,
        ...origins,
        BACKLOT_IDENTITY_KEYS: identityKeysSetting('gateway', identityRoot),
      });
    const first = await gateway('gateway-1');
    const second = await gateway('gateway-2');

    const control = apiAt(`${first.url}/api/platform`);
    const gateways = [first.url, second.url] as const;
    for (const url of gateways) await until(() => isWhole(url), { what: url });
    let shops = 0;
    const stack: StackUnderTest = {
      gateways,
      control,
      runtime: (n, projectId) => apiAt(`${gateways[n % 2]}/api/runtime/${projectId}`),
      operatorToken,
      databaseUrl: postgres.url,
      amqpUrl: rabbitmq.url,
      redisUrl: redis.url,
      managementUrl: rabbitmq.managementUrl,
      victims: { gateway: second, ai, projects, records, payments, redis, rabbitmq, postgres },
      async newShop(credits) {
        const signUp = await apiAt(`${first.url}/api/runtime/platform`)('POST', '/auth/signup', {
          body: { email: `owner${++shops}@example.org`, password: 'a good long password' },
        });
        const owner = { id: signUp.body.user.id, token: signUp.body.token };
        const project = await control('POST', '/projects', {
          token: owner.token,
          body: {
            name: 'Shop',
            settings: { aiPerVisitorPerDay: 1_000_000, visitorCreditsPerDay: 1_000_000 },
          },
        });
        const grant = await control('POST', '/credits/grants', {
          token: operatorToken,
          body: { ownerId: owner.id, credits, reason: 'a test' },
        });
        if (grant.status !== 201) throw new Error(`The grant answered ${grant.status}.`);
        const key = await control('POST', `/projects/${project.body.id}/keys`, {
          token: owner.token,
          body: { name: 'survival' },
        });
        return { id: project.body.id, owner, key: key.body.key };
      },
      stop,
    };
    await untilServing(stack);
    return stack;
  } catch (error) {
    await stop();
    throw error;
  }
};

/** A Redis that has just come up takes no reservation for some seconds: it may have lost others. */
const untilServing = async ({ gateways, newShop }: StackUnderTest) => {
  const { id } = await newShop(10);
  for (const gateway of gateways)
    await until(async () => (await later(100, () => ask(gateway, id, 'Hello'))).kind === 'served', {
      what: 'a priced call',
    });
};

/** Serves, and works as well as it should. */
export const isWhole = async (gateway: string): Promise<boolean> => {
  const answer = await fetch(`${gateway}/readyz`);
  const { degraded } = (await answer.json()) as { degraded?: string[] };
  return answer.ok && degraded === undefined;
};
