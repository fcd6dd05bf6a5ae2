import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { aiRoutes } from '@backlot/contract';
import { largeBodyWork } from '@backlot/fair-shares';
import { describe, expect, it } from '@jest/globals';
import { createReadAhead } from './read-ahead.ts';

describe('bodies that the gateway reads', () => {
  const readAhead = createReadAhead({ expect: () => ({ shrink: () => {} }) }, largeBodyWork());
  const read = (text: string, address: string) => {
    const req = new IncomingMessage(new Socket());
    req.headers = { 'content-length': String(text.length) };
    req.push(text);
    req.push(null);
    const { generateText: definition } = aiRoutes;
    const requester = ['ada', 'shop', address] as const;
    return readAhead(req, new ServerResponse(req), { definition, requester, startedAt: 0 });
  };

  /** What happened in which order, where many calls come at once. */
  const readMany = async (bytes: number) => {
    const body = { json: 'x'.repeat(bytes) };
    const log: string[] = [];
    let isOver = false;
    const serveOthers = () => {
      log.push('others');
      if (!isOver) setImmediate(serveOthers);
    };
    setImmediate(serveOthers);
    await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        const ahead = await read(JSON.stringify(body), `192.0.2.${i}`);
        expect(ahead.body).toEqual(body);
        log.push('read');
      }),
    );
    isOver = true;
    return log.join(' ');
  };

  it('are read one by one where they take long: others are served in between', async () => {
    expect(await readMany(1000)).toContain('read read');
    const order = await readMany(5000);
    expect(order).not.toContain('read read');
    expect(order.match(/read/g)).toHaveLength(8);
  });

  it('wait for each other where 32 of one address come at once', async () => {
    const text = JSON.stringify({ json: 'x'.repeat(20_000) });
    const all = Array.from({ length: 32 }, () => read(text, '192.0.2.1'));
    expect(await Promise.all(all)).toHaveLength(32);
  });
});
