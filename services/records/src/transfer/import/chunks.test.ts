import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { discardBody } from '@backlot/http';
import { expect, it } from '@jest/globals';
import { bodyChunks } from './chunks.ts';

it('leaves the connection to the next call where it is not read to its end', async () => {
  const server = createServer(async (req, res) => {
    const untilMs = performance.now() + 60_000;
    for await (const _ of bodyChunks(req, { untilMs, maxBytes: 1024 })) break;
    await discardBody(req);
    res.end(String(req.socket.destroyed));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}\n' });
  expect(await answer.text()).toBe('false');
  await new Promise((resolve) => server.close(resolve));
});
