import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createDatabase } from '@backlot/database';
import {
  createServiceDatabase,
  createTestBroker,
  createTestProxy,
  findFreePort,
  testIdentityKeysSetting,
  until,
} from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { smallService } from '../testing/small-service.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const right = 'the password of a test';
const wrong = 'another password of a test';
const withPassword = (url: string, password: string) =>
  Object.assign(new URL(url), { password: encodeURIComponent(password) }).href;

interface Line {
  level: number;
  msg: string;
  setting?: string;
}

const errorLevel = 50;

/** The process, and what it has written of passwords that are refused and taken. */
const start = async (env: Record<string, string>) => {
  const port = await findFreePort(17_400);
  const child: ChildProcess = spawn(
    process.execPath,
    [fileURLToPath(new URL('../testing/small-main.ts', import.meta.url))],
    {
      env: {
        PORT: String(port),
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        BACKLOT_IDENTITY_KEYS: testIdentityKeysSetting(smallService.name),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  closing.push(() => child.kill('SIGKILL'));
  if (!child.stdout) throw new Error('The process has no output.');
  const lines: Line[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(JSON.parse(line) as Line));
  const ask = async (path: string): Promise<[number, object]> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return [answer.status, (await answer.json()) as object];
  };
  return {
    ask,
    lines,
    isSaid: (msg: string) => lines.some((line) => line.msg === msg),
    refusals: () => lines.filter(({ msg }) => msg.includes(' refuses ')),
    readyz: (status: number, body: object) =>
      until(
        async () => {
          const answer = await ask('/readyz');
          expect(answer).toMatchObject([status, body]);
          return true;
        },
        { what: `/readyz ${status} ${JSON.stringify(body)}` },
      ),
    async end() {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      return exit;
    },
  };
};

const refusal = (server: string, setting: string) => ({
  level: errorLevel,
  msg: `${server} refuses the user or the password; what needs it fails until they are put right`,
  setting,
});

const startPostgres = async () => {
  const database = await createServiceDatabase(smallService);
  const admin = createDatabase({ url: database.ownerUrl, schema: 'public' });
  closing.push(async () => {
    await admin.close();
    await database.drop();
  });
  const role = decodeURIComponent(new URL(database.url).username);
  return {
    url: database.url,
    async setPassword(password: string) {
      await admin.query(`ALTER ROLE "${role}" PASSWORD '${password}'`);
    },
    endConnections: () =>
      admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [
        role,
      ]),
  };
};

const startBroker = async () => {
  const broker = await createTestBroker();
  closing.push(() => broker.drop());
  const name = `user-of-${broker.vhost}`;
  const setPassword = (password: string) =>
    broker.define({
      users: [{ name, password, tags: [] }],
      permissions: [{ user: name, vhost: broker.vhost, configure: '.*', write: '.*', read: '.*' }],
    });
  await setPassword(right);
  const address = new URL(broker.url);
  [address.username, address.password] = [name, encodeURIComponent(right)];
  const proxy = await createTestProxy(address.href);
  closing.push(() => proxy.close());
  return { url: proxy.url, cut: proxy.cut, setPassword };
};

describe('a process whose password is refused', () => {
  it('by PostgreSQL at its start lives, says so once, answers calls 503 by name, and serves when it is put right', async () => {
    const postgres = await startPostgres();
    const broker = await startBroker();
    const service = await start({
      DATABASE_URL: withPassword(postgres.url, wrong),
      AMQP_URL: broker.url,
    });
    await until(() => service.refusals().length > 0);
    expect(await service.ask('/livez')).toEqual([200, { ok: true }]);
    await service.readyz(503, {
      missing: ['postgresql'],
      dependencies: [{ name: 'postgresql', state: 'missing', reason: 'refuses_role' }],
    });
    expect(await service.ask('/db/todos')).toMatchObject([503, { code: 'access_refused' }]);
    await postgres.setPassword(wrong);
    await until(() => service.isSaid('listening'));
    await service.readyz(200, { ok: true });
    expect(service.refusals()).toMatchObject([refusal('PostgreSQL', 'DATABASE_URL')]);
    expect(await service.end()).toEqual([0, null]);
    expect(JSON.stringify(service.lines)).not.toContain(wrong);
  });

  it('by PostgreSQL while it runs is not ready, lives, and serves when it is put right', async () => {
    const postgres = await startPostgres();
    const broker = await startBroker();
    const service = await start({ DATABASE_URL: postgres.url, AMQP_URL: broker.url });
    await until(() => service.isSaid('listening'));
    await service.readyz(200, { ok: true });
    await postgres.setPassword(wrong);
    await postgres.endConnections();
    await service.readyz(503, { missing: ['postgresql'] });
    expect(await service.ask('/livez')).toEqual([200, { ok: true }]);
    await postgres.setPassword(right);
    await service.readyz(200, { ok: true });
    await until(() => service.isSaid('PostgreSQL takes the password again'));
    expect(service.refusals()).toMatchObject([refusal('PostgreSQL', 'DATABASE_URL')]);
    expect(await service.end()).toEqual([0, null]);
  });

  it('by RabbitMQ serves all the same, degraded, and sends its events when it is put right', async () => {
    const postgres = await startPostgres();
    const broker = await startBroker();
    await broker.setPassword(wrong);
    const service = await start({ DATABASE_URL: postgres.url, AMQP_URL: broker.url });
    await until(() => service.refusals().length === 1);
    await until(() => service.isSaid('listening'));
    await service.readyz(200, { degraded: ['rabbitmq'] });
    await broker.setPassword(right);
    await until(() => service.isSaid('RabbitMQ takes the password again'));
    await service.readyz(200, { ok: true });

    await broker.setPassword(wrong);
    broker.cut();
    await service.readyz(200, { degraded: ['rabbitmq'] });
    expect(await service.ask('/livez')).toEqual([200, { ok: true }]);
    await until(() => service.refusals().length === 2);
    await broker.setPassword(right);
    await until(async () => !JSON.stringify(await service.ask('/readyz')).includes('degraded'));
    expect(service.refusals()).toMatchObject(Array(2).fill(refusal('RabbitMQ', 'AMQP_URL')));
    expect(await service.end()).toEqual([0, null]);
  });
});
