import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import {
  brotliCompressSync,
  constants,
  deflateSync,
  gzipSync,
  type ZlibOptions,
  zstdCompressSync,
} from 'node:zlib';
import { defineRoute } from '@backlot/contract';
import { identityHeader } from '@backlot/identity';
import {
  anonymous,
  createFindTestRoute,
  type ServiceUnderTest,
  serveForTest,
  signed,
  testIdentityKeys,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { route } from '../route/route.ts';
import { serviceApp } from '../server/service-app.ts';
import { readBody } from './json-body.ts';

const MIB = 1024 * 1024;
const echo = defineRoute({
  operationId: 'echo',
  service: 'records',
  plane: 'runtime',
  method: 'POST',
  path: '/echo',
  summary: 'Echo',
  callers: ['anonymous'],
  limit: 'write',
  body: z.object({ text: z.string() }),
  response: z.object({ length: z.number() }),
  status: 200,
  errors: [],
});

/** As small as the best one makes of a bomb, in a tenth of the time. */
const brotliQuality = 5;
const encoders: Record<string, (bytes: Uint8Array, options?: ZlibOptions) => Buffer> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: (bytes) =>
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  zstd: (bytes) => zstdCompressSync(bytes),
};
const encodings = Object.keys(encoders);
const encode = (encoding: string, text: string) =>
  encoders[encoding.toLowerCase()]?.(Buffer.from(text)) ?? Buffer.from(text);
const rubbish = Buffer.from(Array.from({ length: 300 }, (_, n) => (n * 91 + 7) % 256));

const notUnderTest = () => Promise.reject(new Error('not under test'));

describe('a body in a Content-Encoding', () => {
  let service: ServiceUnderTest;
  beforeAll(async () => {
    service = await serveForTest(
      serviceApp({
        routes: [route(echo, async ({ body }) => ({ body: { length: body.text.length } }))],
        gatewayKeys: testIdentityKeys('gateway'),
        now: Date.now,
        idempotency: { run: notUnderTest, runInOne: notUnderTest, runSlow: notUnderTest },
        checkResponses: true,
        log: { error: () => {} },
        ready: async () => ({ isServing: true, dependencies: [] }),
      }),
      Date.now,
      createFindTestRoute([echo]),
    );
  });
  afterAll(() => service.stop());

  const post = (encoding: string, body: Uint8Array) =>
    service.call('POST', '/echo', {
      identity: anonymous(),
      body,
      headers: { 'content-encoding': encoding },
    });

  it.each([...encodings, 'GZip', 'BR', 'identity', 'Identity'])('is read: %s', async (encoding) => {
    const { status, body } = await post(encoding, encode(encoding, '{"text":"four"}'));
    expect([status, body.length]).toEqual([200, 4]);
  });

  it.each(encodings)(
    '%s: rubbish, a cut one and one with rubbish in it are 400',
    async (encoding) => {
      const whole = encode(encoding, JSON.stringify({ text: rubbish.toString('base64') }));
      const broken = Buffer.from(whole);
      broken.fill(0xff, 20, 60);
      for (const bytes of [
        rubbish,
        Buffer.from('{"text":"plain"}'),
        whole.subarray(0, -20),
        broken,
      ]) {
        const { status, body } = await post(encoding, bytes);
        expect([status, body.code]).toEqual([400, 'invalid_body']);
      }
    },
  );

  it.each(encodings)('%s: a bomb is cut at the limit, before memory grows', async (encoding) => {
    const bomb = encode(encoding, JSON.stringify({ text: '0'.repeat(64 * MIB) }));
    const before = process.memoryUsage();
    for (let n = 0; n < 5; n++) {
      const { status, body } = await post(encoding, bomb);
      expect([status, body.code]).toEqual([413, 'body_too_large']);
    }
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(32 * MIB);
  });

  it.each(['rot13', 'compress', 'gzip, br', 'gzip,gzip', 'x-gzip', '', ' ', '*'])(
    'is no 500 where it is unknown or a list: "%s"',
    async (encoding) => {
      const { status, body } = await post(encoding, encode('gzip', '{"text":"four"}'));
      expect([400, 415]).toContain(status);
      expect(['unsupported_media_type', 'invalid_json']).toContain(body.code);
    },
  );

  it('answers before a body that is too large has come to its end', async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    const bomb = encode('gzip', JSON.stringify({ text: '0'.repeat(8 * MIB) }));
    socket.write(
      `POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n${identityHeader}: ${signed(anonymous(), echo)}\r\nTransfer-Encoding: chunked\r\n\r\n${bomb.length.toString(16)}\r\n`,
    );
    socket.write(bomb);
    const [answer] = await new Promise<Buffer[]>((resolve, reject) => {
      socket.once('data', (chunk: Buffer) => resolve([chunk]));
      socket.once('error', reject);
    });
    socket.destroy();
    expect(answer?.toString()).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('ends with a caller who breaks off in the middle of it', async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Encoding: br\r\n${identityHeader}: ${signed(anonymous(), echo)}\r\nContent-Length: 500\r\n\r\n`,
    );
    socket.write(encode('br', '{"text":"four"}').subarray(0, 5));
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    expect((await post('br', encode('br', '{"text":"four"}'))).status).toBe(200);
  });
});

describe('a body that came with its head', () => {
  it('is taken at once, and its connection goes on', async () => {
    const seen = new Set<unknown>();
    const server = createServer(async (req, res) => {
      seen.add(req.socket);
      // Behind the head, the body is parsed.
      await setImmediate();
      const end = once(req, 'end');
      const body = readBody(req, echo);
      const listeners = req.listenerCount('data');
      const text = String(await body);
      await end;
      res.end(JSON.stringify({ text, listeners }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const { port } = server.address() as AddressInfo;
    const headers = { 'content-type': 'application/json' };
    const send = async (body: string) => {
      const req = request({ port, host: '127.0.0.1', method: 'POST', headers, agent });
      const [res] = (await once(req.end(body), 'response')) as [IncomingMessage];
      return json(res);
    };
    for (const text of ['{"text":"first"}', '{"text":"second"}'])
      expect(await send(text)).toEqual({ text, listeners: 0 });
    expect(seen.size).toBe(1);
    agent.destroy();
    server.close();
  });
});
