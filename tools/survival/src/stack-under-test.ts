import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityKeysSetting, prepareDatabase } from '@backlot/all-in-one';
import { findFreePort } from '@backlot/local-servers';
import { startRabbitmq, startRedis, until } from '@backlot/testing';
import { type Api, apiAt } from '@backlot/testing/platform-api';
import { ask, later } from './ai-calls.ts';
import { isWhole } from './is-whole.ts';
import { startKeptPostgres } from './kept-postgres.ts';
import { type OsProcess, startProcess, type Victim } from './os-process.ts';
import { refuseSecretsInLogs, secretsIn } from './secrets-in-logs.ts';
import { type CollectedSpan, startTraceCollector } from './trace-collector.ts';

export { isWhole };

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
  | 'auth'
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
  /** The folder of the processes' logs. */
  logs: string;
  /** What the processes have traced. */
  spans(): readonly CollectedSpan[];
  /** Nobody may read these in a log, nor in a trace. */
  keepFromLogs(...secrets: string[]): void;
  keptFromLogs(): readonly string[];
  /** Addresses where the processes show their metrics, the third gateway's excepted. */
  metrics: string[];
  /** Of RabbitMQ, with its password. */
  managementUrl: string;
  /** Where these servers keep their data, for who freezes one. */
  folders: Record<'postgresql' | 'redis' | 'rabbitmq', string>;
  victims: Record<VictimName, Victim>;
  newShop(credits: number): Promise<Shop>;
  /** A third gateway, before records of its own. */
  startPair(): Promise<Pair>;
  stop(): Promise<void>;
}

export interface Pair {
  gateway: OsProcess;
  records: OsProcess;
}

const services = ['auth', 'projects', 'records', 'storage', 'ai', 'email', 'payments'] as const;
const entryFile = (folder: string) => new URL(`../../../${folder}/src/main.ts`, import.meta.url);
const secret = (bytes: number) => randomBytes(bytes);
const wide = { perCaller: 1_000_000, perProject: 1_000_000 };

/** What differs from production: nothing is granted by time, a lost gateway is noticed soon. */
const settings = {
  // All that a process may ever say: the end of the tests looks for secrets in it.
  BACKLOT_LOG_LEVEL: 'debug',
  BACKLOT_ACCESS_LOG: 'true',
  BACKLOT_MONTHLY_CREDITS: '0',
  BACKLOT_RESERVATION_SECONDS: '20',
  // On a machine that is busy with tests an answer of Redis may be read late; falling back to local
  // limits is tested for itself.
  BACKLOT_REDIS_TIMEOUT_MS: '2000',
  BACKLOT_DEFAULT_LIMITS: JSON.stringify({ read: wide, write: wide, ai: wide, payments: wide }),
  BACKLOT_ARGON2_MEMORY_KIB: '1024',
  // All suites sign their owners up from one address.
  BACKLOT_OWNER_SIGN_UPS_PER_IP_PER_HOUR: '1000',
  BACKLOT_WEBHOOKS_TO_LOOPBACK: 'on',
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
    const collector = keep(await startTraceCollector());
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
      BACKLOT_TRACES_URL: collector.url,
    };
    const metrics: string[] = [];
    let nextPort = 18_000 + Math.floor(Math.random() * 4_000);
    const takePort = async () => {
      const port = await findFreePort(nextPort);
      nextPort = port + 1;
      return port;
    };
    const launch = async (name: string, entry: URL, env: Record<string, string>, port: number) => {
      secrets.push(...secretsIn(env));
      const metricsPort = await takePort();
      metrics.push(`http://127.0.0.1:${metricsPort}/metrics`);
      const all = { ...env, BACKLOT_METRICS_PORT: String(metricsPort) };
      return keep(
        await startProcess({ entry, port, env: all, logFile: join(logs, `${name}.log`) }),
      );
    };

    const databaseUrls = await prepareDatabase(postgres.url, console.warn);
    // Some ask each other.
    const ports: Partial<Record<(typeof services)[number], number>> = {};
    for (const name of services) ports[name] = await takePort();
    const origins = Object.fromEntries(
      services.map((name) => [
        `BACKLOT_${name.toUpperCase()}_ORIGIN`,
        `http://127.0.0.1:${ports[name]}`,
      ]),
    );
    const started: Partial<Record<(typeof services)[number], OsProcess>> = {};
    const service = (name: (typeof services)[number], logName: string, port: number) => {
      const env = {
        ...shared,
        ...origins,
        DATABASE_URL: databaseUrls[name],
        BACKLOT_IDENTITY_KEYS: identityKeysSetting(name, identityRoot),
      };
      return launch(logName, entryFile(`services/${name}`), env, port);
    };
    for (const name of services)
      started[name] = await service(name, name, ports[name] ?? (await takePort()));
    const { auth, ai, projects, records, payments } = started;
    if (!auth || !ai || !projects || !records || !payments)
      throw new Error('A service is missing.');
    const gateway = async (name: string, changes: Record<string, string> = {}) => {
      const env = {
        ...shared,
        ...origins,
        ...changes,
        BACKLOT_IDENTITY_KEYS: identityKeysSetting('gateway', identityRoot),
      };
      return launch(name, entryFile('gateway'), env, await takePort());
    };
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
      folders: { postgresql: at('postgres'), redis: at('redis'), rabbitmq: at('rabbitmq') },
      metrics: [...metrics],
      logs,
      spans: collector.spans,
      keepFromLogs: (...more) => void secrets.push(...more),
      keptFromLogs: () => [...new Set(secrets)],
      managementUrl: rabbitmq.managementUrl,
      victims: {
        gateway: second,
        auth,
        ai,
        projects,
        records,
        payments,
        redis,
        rabbitmq,
        postgres,
      },
      async newShop(credits) {
        const platform = apiAt(`${first.url}/api/runtime/platform`);
        const email = `owner${++shops}@example.org`;
        const password = 'a good long password';
        secrets.push(email, password);
        const signUp = await platform('POST', '/auth/signup', { body: { email, password } });
        if (signUp.status !== 201)
          throw new Error(`The sign-up answered ${signUp.status} ${JSON.stringify(signUp.body)}.`);
        const owner = { id: signUp.body.user.id, token: signUp.body.token };
        secrets.push(owner.token);
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
        secrets.push(key.body.key);
        return { id: project.body.id, owner, key: key.body.key };
      },
      async startPair() {
        const records = await service('records', 'records-2', await takePort());
        const gateway3 = await gateway('gateway-3', { BACKLOT_RECORDS_ORIGIN: records.url });
        return { gateway: gateway3, records };
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
