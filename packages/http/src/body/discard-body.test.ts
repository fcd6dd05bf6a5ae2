import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createDiscardBody, type DiscardBounds } from './discard-body.ts';

const MIB = 1024 * 1024;

describe('a refused body', () => {
  let server: Server;
  let discarded: Promise<void>[] = [];
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const refuse = async (bounds: Partial<DiscardBounds>): Promise<number> => {
    const discardBody = createDiscardBody(bounds);
    discarded = [];
    server = createServer((req, res) => {
      res.writeHead(413).end('too large');
      discarded.push(discardBody(req, String(req.headers['x-address'])));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  };

  /** The answer as a client sees it that sends its whole body first; undefined when it was cut. */
  const send = async (port: number, bodyBytes: number, address = 'a') => {
    const req = request({ port, method: 'POST', headers: { 'x-address': address } });
    req.on('error', () => {});
    const answered = once(req, 'response') as Promise<[IncomingMessage]>;
    answered.catch(() => {});
    const chunk = Buffer.alloc(MIB);
    try {
      for (let sent = 0; sent < bodyBytes; sent += MIB) {
        await new Promise<void>((resolve, reject) => {
          req.write(chunk, (error) => (error ? reject(error) : resolve()));
        });
      }
      const ended = new Promise<void>((resolve) => req.end(resolve));
      const [res] = await answered;
      const text = (await res.toArray()).join('');
      await ended;
      return text;
    } catch {
      return undefined;
    }
  };

  it('is read to its end, so that the client sees the answer', async () => {
    const port = await refuse({});
    expect(await send(port, 60 * MIB)).toBe('too large');
  });

  it('is read no faster than its rate', async () => {
    const port = await refuse({ freeBytes: 0, bytesPerSecond: 20 * MIB });
    const startedAt = performance.now();
    expect(await send(port, 20 * MIB)).toBe('too large');
    expect(performance.now() - startedAt).toBeGreaterThan(500);
  });

  it('is cut when its time is over, and when nothing more comes', async () => {
    const port = await refuse({ maxMs: 200, bytesPerSecond: MIB });
    expect(await send(port, 60 * MIB)).toBeUndefined();
    server.close();
    server.closeAllConnections();
    const idlePort = await refuse({ idleMs: 100 });
    const req = request({ port: idlePort, method: 'POST', headers: { 'content-length': 5 * MIB } });
    req.on('error', () => {});
    req.write('x');
    await once(req, 'close');
  });

  it('takes no more than its share of places of one address and of all', async () => {
    const bounds = { freeBytes: MIB, bytesPerSecond: 8 * MIB, placesPerAddress: 2, places: 6 };
    const port = await refuse(bounds);
    const seen = async (...addresses: string[]) => {
      const answers = await Promise.all(addresses.map((address) => send(port, 20 * MIB, address)));
      // A place is left when the server has read the last byte.
      await Promise.all(discarded);
      return answers.filter((answer) => answer === 'too large').length;
    };
    expect(await seen('a', 'a', 'a', 'b')).toBe(3);
    expect(await seen('a', 'b', 'c', 'd', 'e', 'f', 'g')).toBe(6);
    // Left places are free again.
    expect(await seen('a', 'a', 'b')).toBe(3);
    expect(await send(port, MIB, 'x')).toBe('too large');
  });

  it('leaves its place when it is cut', async () => {
    const bounds = { freeBytes: 0, places: 1, idleMs: 2000 };
    const port = await refuse(bounds);
    for (let stalled = 0; stalled < 3; stalled++) {
      const req = request({ port, method: 'POST', headers: { 'content-length': 5 * MIB } });
      req.on('error', () => {});
      req.write(Buffer.alloc(MIB));
      await new Promise((resolve) => req.once('close', resolve));
      await Promise.all(discarded);
      expect(await send(port, MIB)).toBe('too large');
    }
  });
});
