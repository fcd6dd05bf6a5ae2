import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { fetchFrom, newAddresses } from './addresses.ts';

test('a platform on this machine sees each caller at its own address', async () => {
  const server = createServer((req, res) => res.end(req.socket.remoteAddress));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  const addresses = newAddresses(origin, 3);
  const seen = addresses.map(async (address) => (await fetchFrom(address)(origin)).text());
  expect(await Promise.all(seen)).toEqual(addresses);
  expect(new Set(addresses).size).toBe(3);
  server.closeAllConnections();
  server.close();
});

test('to a platform elsewhere no address is chosen', () => {
  expect(newAddresses('https://backlot.example', 2)).toEqual([undefined, undefined]);
});
