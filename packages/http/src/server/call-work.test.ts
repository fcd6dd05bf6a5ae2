import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextRound } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { CallWork, tellWork } from './call-work.ts';

const busy = (ms: number) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

describe('what a call takes', () => {
  const servers: ReturnType<typeof createServer>[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  it('has of the thread what it did itself, and not what it waited for', async () => {
    const work = new CallWork();
    work.mark();
    busy(20);
    const end = work.statement();
    const before = work.threadMs;
    expect(before).toBeGreaterThanOrEqual(20);
    await nextRound();
    busy(50);
    await nextRound();
    end();
    expect(work.threadMs).toBe(before);
    expect(work.databaseMs).toBeGreaterThanOrEqual(50);
    busy(10);
    work.mark();
    expect(work.threadMs).toBeGreaterThanOrEqual(before + 10);
  });

  it.each([
    ['in its headers', [200, { 'x-own': '1' }]],
    ['without any', [200]],
    ['in a list of them', [200, ['x-own', '1']]],
  ] as const)('is told in the answer’s head, %s', async (_name, given) => {
    const server = createServer((_req, res) => {
      const work = tellWork(res);
      work.statement()();
      (res.writeHead as (...all: unknown[]) => void)(...given);
      res.end('ok');
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    expect(answer.headers.get('x-backlot-work')).toMatch(/^\d+ \d+$/);
    expect(await answer.text()).toBe('ok');
    if (given.length > 1) expect(answer.headers.get('x-own')).toBe('1');
  });
});
