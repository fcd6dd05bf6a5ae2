import { connect } from 'node:net';
import type { RouteDefinition } from '@backlot/contract';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createPricedCalls, pricedBytes } from './testing/priced-calls.ts';

const { price: _free, ...usual } = pricedBytes;
const timeoutMs = 1500;

describe('a body that takes longer than a call may', () => {
  const { over, start, bed, close } = createPricedCalls();
  afterEach(close);

  /** A byte at a time, until twice the time of a call has gone; the head of the answer. */
  const send = async (route: RouteDefinition) => {
    await start(9000, {
      ...over('http'),
      service: () => (req, res) =>
        void req.resume().once('end', () => res.writeHead(200).end('{}')),
      deps: { routes: [route], timeoutMs },
    });
    const socket = connect(bed().port, '127.0.0.1');
    const answer = new Promise<string>((resolve) => {
      socket.once('data', (bytes) => resolve(String(bytes).slice(0, 12)));
      socket.once('close', () => resolve('closed'));
    });
    socket.on('error', () => {});
    const chunked = 'Transfer-Encoding: chunked\r\n\r\n';
    socket.write(`POST /api/runtime/demo/ai HTTP/1.1\r\nHost: x\r\n${chunked}`);
    const startedAt = performance.now();
    const drip = setInterval(() => {
      const isOver = performance.now() - startedAt > 2.5 * timeoutMs;
      socket.write(isOver ? '0\r\n\r\n' : '1\r\na\r\n');
      if (isOver) clearInterval(drip);
    }, 50);
    const head = await answer;
    clearInterval(drip);
    socket.destroy();
    return head;
  };

  it('is waited for while it comes, where the route says so', async () => {
    expect(await send({ ...usual, lastsWhileBodyComes: true })).toBe('HTTP/1.1 200');
  });

  it('is given up elsewhere', async () => {
    expect(await send(usual)).toBe('HTTP/1.1 504');
  });
});
