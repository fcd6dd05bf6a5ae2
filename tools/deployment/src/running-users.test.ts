import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createRabbitmqBus } from '@backlot/bus/rabbitmq';
import { rabbitmqDefinitions } from '@backlot/bus/rabbitmq-users';
import { redisUsers } from '@backlot/counters/redis-users';
import { createTestBroker, findFreePort, findServer, until } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Docker } from './docker.ts';
import { setUsers } from './running-users.ts';
import { readCompose } from './testing/compose.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** What docker compose says of these users, and what it does with the commands for the servers. */
const createDocker =
  (wanted: { users: string; definitions: string }, run: Record<string, Docker>): Docker =>
  async (args, input) => {
    if (args[1] === 'config')
      return JSON.stringify({
        services: {
          redis: { environment: { USERS: wanted.users } },
          rabbitmq: { environment: { DEFINITIONS: wanted.definitions.replaceAll('$', '$$$$') } },
        },
      });
    return (await run[args[4] ?? '']?.(args, input)) ?? '';
  };

/** The container of Redis as docker-compose.yml has it, with these users in its environment. */
const createRedisContainer = async () => {
  const { redis } = (await readCompose()).services;
  const { path } = await findServer({
    name: 'Redis',
    candidates: ['redis-server', 'valkey-server'],
    debianPackage: 'redis-server',
    notInDocker: true,
  });
  const folder = await mkdtemp(join(tmpdir(), 'backlot-redis-users-'));
  cleanups.push(() => rm(folder, { recursive: true }));
  const port = await findFreePort(24_000 + Math.floor(Math.random() * 2_000));
  const [shell = '', ...script] = redis?.entrypoint ?? [];
  const inFolder = (line: string) => line.replaceAll('$$', '$').replaceAll('/data', folder);
  const args = [...script, ...(redis?.command ?? [])].map(inFolder);
  const send = async (lines: string): Promise<string> => {
    const socket = connectTcp(port, '127.0.0.1');
    socket.write(`${lines.trimEnd()}\nQUIT\n`);
    return text(socket);
  };
  const takes = async (password: string) =>
    (await send(`AUTH gateway ${password}`).catch(() => '')).startsWith('+OK');
  let server: ChildProcess | undefined;
  const kill = async () => {
    if (server?.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
  };
  cleanups.push(kill);
  const start = async (users: string) => {
    await kill();
    server = spawn(shell, [...args, '--bind', '127.0.0.1', '--port', String(port)], {
      env: { PATH: `${dirname(path)}:${process.env.PATH}`, USERS: users },
      stdio: 'ignore',
    });
    await until(() =>
      send('PING').then(
        () => true,
        () => false,
      ),
    );
  };
  return { start, send, takes, port };
};

const redisText = (password: string) =>
  redisUsers(
    ['gateway', 'projects'].map((name) => ({ name, password, countsCalls: name === 'gateway' })),
    'operators',
  ).join('\n');

describe('Redis in docker compose', () => {
  it('takes other passwords while it runs and after a crash, and those of its settings when made anew', async () => {
    const container = await createRedisContainer();
    const redis: Record<string, Docker> = {
      printenv: async () => redisText('first'),
      'redis-cli': async (_args, input = '') =>
        (await container.send(input)).replace(/\+OK\r\n$/, '').replaceAll('+OK\r\n', 'OK\n'),
    };
    await container.start(redisText('first'));
    const open = connectTcp(container.port, '127.0.0.1');
    open.write('AUTH gateway first\n');
    await once(open, 'data');
    const users = redisText('second >first');
    await setUsers(createDocker({ users, definitions: '{}' }, redis));
    expect(await Promise.all(['first', 'second'].map(container.takes))).toEqual([true, true]);
    await setUsers(createDocker({ users: redisText('second'), definitions: '{}' }, redis));
    expect(await Promise.all(['first', 'second'].map(container.takes))).toEqual([false, true]);
    open.write('GET cr:a\n');
    expect(String((await once(open, 'data'))[0])).toBe('$-1\r\n');
    open.destroy();
    await container.start(redisText('first'));
    expect(await Promise.all(['first', 'second'].map(container.takes))).toEqual([false, true]);
    await container.start(redisText('third'));
    expect(await Promise.all(['second', 'third'].map(container.takes))).toEqual([false, true]);
  });

  it('says what it refuses', async () => {
    const container = await createRedisContainer();
    await container.start(redisText('first'));
    const docker = createDocker(
      { users: 'user gateway on nonsense', definitions: '{}' },
      {
        printenv: async () => redisText('first'),
        'redis-cli': async (_args, input = '') => container.send(input),
      },
    );
    await expect(setUsers(docker)).rejects.toThrow("Error in ACL SETUSER modifier 'nonsense'");
  });
});

describe('RabbitMQ', () => {
  it('takes another password at once, and goes on with who came by the one before', async () => {
    const broker = await createTestBroker();
    cleanups.push(() => broker.drop());
    const name = `notes-${broker.vhost}`;
    const definitions = (password: string) =>
      rabbitmqDefinitions(
        [{ name, password, sends: ['note.made'], hears: ['note.made'] }],
        broker.vhost,
      );
    const open = async (password: string) => {
      const url = new URL(broker.url);
      [url.username, url.password] = [encodeURIComponent(name), password];
      const bus = await createRabbitmqBus({ url: url.href, onDead: () => {}, onError: () => {} });
      cleanups.push(() => bus.close());
      return bus;
    };
    await broker.define(definitions('first'));
    const before = await open('first');
    await before.ready(30_000);
    const heard: string[] = [];
    await before.listen(['note.made'], ({ id }) => void heard.push(id));
    await setUsers(
      createDocker(
        { users: '', definitions: JSON.stringify(definitions('second')) },
        {
          printenv: async () => 'user operator on >operators',
          rabbitmqctl: async (_args, input = '') => {
            await broker.define(JSON.parse(input));
            return '';
          },
        },
      ),
    );
    const late = await open('first');
    await until(() => late.refused());
    const after = await open('second');
    await after.ready(30_000);
    await after.publish({ id: 'of the second', topic: 'note.made', payload: {} });
    await before.publish({ id: 'of the first', topic: 'note.made', payload: {} });
    await until(() => heard.length === 2);
    expect(new Set(heard)).toEqual(new Set(['of the first', 'of the second']));
  });
});
