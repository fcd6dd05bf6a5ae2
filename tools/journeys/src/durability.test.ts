import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@backlot/testing';
import { apiAt } from '@backlot/testing/platform-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Command, runCommand } from './command-under-test.ts';

const freePort = async () => {
  const server = createServer().listen(0);
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
};

describe('the dev command', () => {
  let dataDir: string;
  let port: number;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'backlot-dev-'));
    port = await freePort();
  });
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  const demoApi = (dev: Command) => apiAt(`${dev.url}/api/runtime/demo`);

  /** Eight writers, until the platform is gone. Answers the ids that were acknowledged. */
  const writeUntilGone = async (dev: Command, acknowledged: string[]) => {
    const api = demoApi(dev);
    const writer = async (name: number) => {
      for (let n = 0; ; n++) {
        const answer = await api('POST', '/db/journal', { body: { data: { name, n } } }).catch(
          () => undefined,
        );
        if (!answer) return;
        if (answer.status === 201) acknowledged.push(answer.body.id);
        else if (answer.status !== 429 && answer.status !== 503)
          throw new Error(`answered ${answer.status}`);
        // The write limit of one caller is met soon; it need not be met faster.
        if (answer.status === 429) await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, name) => writer(name)));
  };

  const stored = async (dev: Command) => {
    const ids = new Set<string>();
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await demoApi(dev)('GET', `/db/journal?limit=1000${query}`);
      for (const item of body.items) ids.add(item.id);
      cursor = body.nextCursor;
    } while (cursor !== null);
    return ids;
  };

  it('keeps every acknowledged write over kill -9 of the process group and over Ctrl-C', async () => {
    const acknowledged: string[] = [];
    for (const [signal, writes] of [
      ['SIGKILL', 20],
      ['SIGKILL', 300],
      ['SIGINT', 100],
    ] as const) {
      const dev = await runCommand('main', dataDir, port);
      const before = acknowledged.length;
      const writing = writeUntilGone(dev, acknowledged);
      await until(() => acknowledged.length >= before + writes);
      const code = await dev.end(signal);
      await writing;
      if (signal === 'SIGINT') {
        expect(code).toBe(0);
        expect(dev.output()).toContain('Stopped.');
      }
    }
    const dev = await runCommand('main', dataDir, port);
    const kept = await stored(dev);
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
    const { owner } = dev;
    const signIn = await apiAt(`${dev.url}/api/runtime/platform`)('POST', '/auth/signin', {
      body: owner,
    });
    expect(signIn.status).toBe(200);
    await dev.end('SIGINT');
  });

  it('says what is wrong when a setting is', async () => {
    await expect(runCommand('main', dataDir, 99_999)).rejects.toThrow('PORT');
  });
});
