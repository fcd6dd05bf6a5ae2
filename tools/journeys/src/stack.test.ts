import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@backlot/testing';
import { apiAt } from '@backlot/testing/platform-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Command, runCommand } from './command-under-test.ts';

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });

/** The stack takes nine ports in a row. */
const freePorts = async () => {
  for (let first = 18_200; first < 19_000; first += 10) {
    const free = await Promise.all(
      Array.from({ length: 9 }, (_, offset) => isFree(first + offset)),
    );
    if (free.every(Boolean)) return first;
  }
  throw new Error('There are no nine free ports in a row.');
};

describe('the stack command', () => {
  let dataDir: string;
  let port: number;
  let stack: Command;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'backlot-stack-'));
    port = await freePorts();
    stack = await runCommand('stack-main', dataDir, port);
  });
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  const at = (gateway: number) => `http://localhost:${port + gateway}/api`;

  it('serves an app over both gateways, on the demo project and its owner', async () => {
    const platform = apiAt(`${at(0)}/runtime/platform`);
    const { body: session } = await platform('POST', '/auth/signin', { body: stack.owner });
    const user = await apiAt(`${at(0)}/runtime/demo`)('POST', '/auth/signup', {
      body: { email: 'ada@example.org', password: 'a good long password' },
    });
    const { token } = user.body;
    const other = apiAt(`${at(1)}/runtime/demo`);
    const created = await other('POST', '/db/notes', { token, body: { data: { n: 1 } } });
    expect(created).toMatchObject({ status: 201, body: { n: 1, ownerId: user.body.user.id } });
    const messages = [{ role: 'user', content: 'Hello' }];
    const think = () => other('POST', '/ai', { token, body: { messages, maxTokens: 200 } });
    // Redis has just begun: owners stay closed until every gateway had the time to report.
    await until(async () => (await think()).status === 200);
    const credits = () => apiAt(`${at(0)}/platform`)('GET', '/credits', { token: session.token });
    await until(async () => (await credits()).body.balanceMillicredits === 999_000);
    const mailbox = /http:\S+\/mailbox\/demo\?key=\S+/.exec(stack.output())?.[0] ?? '';
    expect(await fetch(mailbox).then(({ status }) => status)).toBe(200);
    expect(await fetch(mailbox).then(({ status }) => status)).toBe(401);
    const asOwner = { headers: { Authorization: `Bearer ${session.token}` } };
    const page = await fetch(`http://localhost:${port + 1}/mailbox/demo`, asOwner);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Mailbox of')]);
    const owned = apiAt(`${at(1)}/platform/projects/demo`);
    const file = { prompts: { guide: { system: 'You are a guide.' } } };
    const applied = await owned('PUT', '/config', { token: session.token, body: file });
    expect(applied).toMatchObject({ status: 200, body: { changes: [{ action: 'create' }] } });
    expect(await owned('GET', '/config', { token: session.token })).toMatchObject({
      status: 200,
      body: file,
    });
    await apiAt(`${at(0)}/runtime/demo`)('POST', '/auth/signout', { token });
    await until(async () => (await other('GET', '/auth/me', { token })).status === 401);
  });

  it('names each process in its log and stops all of them in order', async () => {
    for (const name of [
      'auth',
      'projects',
      'records',
      'ai',
      'storage',
      'email',
      'payments',
      'gateway-1',
      'gateway-2',
    ]) {
      expect(stack.output()).toMatch(new RegExp(`^${name} +\\| `, 'm'));
    }
    expect(await stack.end('SIGINT')).toBe(0);
    expect(stack.output()).toContain('Stopped.');
    expect(await freePorts()).toBe(port);
  });
});
