import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { sendParts } from './json-parts.ts';

const part = `"${'x'.repeat(512 * 1024)}"`;

describe('an answer in parts', () => {
  let stop = () => {};
  afterEach(() => stop());

  /** Serves one answer of so many parts; `log` tells what has been asked for. */
  const serve = async (count: number, limitMs?: number, fail?: Error) => {
    const log: string[] = [];
    let settle: (outcome: unknown) => void = () => {};
    const outcome = new Promise((resolve) => {
      settle = resolve;
    });
    const parts = {
      async next() {
        const n = log.push('part');
        if (n > count && fail) throw fail;
        return n > count ? undefined : `${n === 1 ? '[' : ','}${part}${n === count ? ']' : ''}`;
      },
      close: () => void log.push('closed'),
    };
    const server = createServer((_req: IncomingMessage, res: ServerResponse) => {
      sendParts(res, 200, { ETag: '"1"' }, parts, limitMs).then(
        () => settle('sent'),
        (error) => {
          res.destroy();
          settle(error);
        },
      );
    });
    stop = () => {
      server.closeAllConnections();
      server.close();
    };
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return { log, outcome, port, url: `http://127.0.0.1:${port}` };
  };

  it('is whole, with its headers', async () => {
    const { url, outcome, log } = await serve(3);
    const answer = await fetch(url);
    expect([answer.status, answer.headers.get('etag')]).toEqual([200, '"1"']);
    expect(await answer.json()).toEqual(Array(3).fill(JSON.parse(part)));
    expect(await outcome).toBe('sent');
    expect(log).toEqual(['part', 'part', 'part', 'part', 'closed']);
  });

  it.each(['stays', 'leaves'])(
    'is read no further for a caller who takes nothing and %s',
    async (way) => {
      const endless = 10_000;
      const { port, outcome, log } = await serve(endless, way === 'stays' ? 300 : undefined);
      const client = connect(port, '127.0.0.1').on('error', () => {});
      client.pause();
      client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await once(client, 'connect');
      if (way === 'leaves') {
        await once(client, 'readable');
        client.destroy();
      }
      await outcome;
      expect(log.at(-1)).toBe('closed');
      expect(log.length).toBeLessThan(100);
      client.destroy();
    },
  );

  it('fails as any other before its first part, and is cut off later', async () => {
    const before = await serve(0, undefined, new Error('full'));
    await expect(fetch(before.url)).rejects.toThrow();
    expect(await before.outcome).toMatchObject({ message: 'full' });
    expect(before.log).toEqual(['part', 'closed']);
    stop();
    const later = await serve(2, undefined, new Error('lost'));
    const answer = await fetch(later.url);
    await expect(answer.text()).rejects.toThrow();
    expect(await later.outcome).toMatchObject({ message: 'lost' });
    expect(later.log.at(-1)).toBe('closed');
  });
});
