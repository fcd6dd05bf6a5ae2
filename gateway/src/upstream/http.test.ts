import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { bareApp, errorHandler, internalOnly } from '@backlot/http';
import { createLogger } from '@backlot/telemetry';
import { testIdentityKeys, until } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';
import { upstreamConformance } from '../testing/upstream.conformance.ts';
import { withHealth } from '../testing/with-health.ts';
import { createHttpUpstream } from './http.ts';
import { createProxyUpstream } from './proxy.ts';

const servers: Server[] = [];
const listen = async (service: RequestListener) => {
  const server = createServer(withHealth(service));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

upstreamConformance('http', async (service) => createHttpUpstream(await listen(service)));
upstreamConformance('http, proxied', async (service) => createProxyUpstream(await listen(service)));

const otherKeys = testIdentityKeys('records', 'another root than that of the gateway');

describe.each([
  ['http', createHttpUpstream],
  ['http, proxied', createProxyUpstream],
])('upstream: %s', (_name, createUpstream) => {
  let bed: TestBed | undefined;
  afterEach(() => bed?.close());
  const list = '/api/runtime/demo/db/notes';

  const expectUnavailable = async (body?: unknown) => {
    const {
      status,
      headers,
      body: failure,
    } = (await bed?.call(body ? 'POST' : 'GET', list, { body })) ?? {};
    expect([status, failure.code, headers?.get('retry-after')]).toEqual([503, 'unavailable', '2']);
  };

  it('a service that is not there is a 503 that says when to come back', async () => {
    const origin = await listen(() => {});
    const server = servers.pop();
    await new Promise((resolve) => server?.close(resolve));
    bed = await createTestBed({ upstream: () => createUpstream(origin) });
    await expectUnavailable();
    await expectUnavailable({ data: {} });
  });

  it('a connection that ends before an answer, or speaks something else, is a 503', async () => {
    for (const reply of ['', 'nonsense\r\n\r\n']) {
      const tcp = createTcpServer((socket) => socket.once('data', () => socket.end(reply)));
      await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
      const origin = `http://127.0.0.1:${(tcp.address() as AddressInfo).port}`;
      bed = await createTestBed({ upstream: () => createUpstream(origin) });
      await expectUnavailable();
      await bed.close();
      await new Promise((resolve) => tcp.close(resolve));
    }
    bed = undefined;
  });

  it("a service that refuses the gateway's identity is a 503 with a line in the log", async () => {
    const service = bareApp();
    service.use(internalOnly(otherKeys, Date.now), errorHandler({ error: () => {} }));
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const log = createLogger({ service: 'gateway', destination });
    const origin = await listen(service);
    bed = await createTestBed({ upstream: () => createUpstream(origin), deps: { log } });
    await expectUnavailable();
    await expectUnavailable({ data: {} });
    expect(lines.filter((line) => line.includes('BACKLOT_IDENTITY_KEYS'))).toHaveLength(2);
  });

  it('uses its connections again', async () => {
    const sockets = new Set<unknown>();
    const origin = await listen((req, res) => {
      sockets.add(req.socket);
      res.end('{}');
    });
    bed = await createTestBed({ upstream: () => createUpstream(origin) });
    for (let n = 0; n < 5; n++) expect((await bed.call('GET', list)).status).toBe(200);
    expect(sockets.size).toBe(1);
  });
});

describe('calls of a service behind HTTP', () => {
  /** A gateway of nothing but the way to a service. */
  const listenBefore = async (service: RequestListener) => {
    const upstream = createHttpUpstream(await listen(service));
    const requests: IncomingMessage[] = [];
    const url = await listen((req, res) => {
      requests.push(req);
      const abort = upstream.forward(req, res, () => res.destroy());
      res.once('close', () => res.writableFinished || abort());
    });
    /** A caller who sends that much of a body. */
    const begin = (declared: number, body: string) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.on('error', () => {});
      socket.write(`POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: ${declared}\r\n\r\n${body}`);
      return socket;
    };
    return { url, requests, begin, upstream };
  };

  it('don’t wait for a connection while a thousand others wait for their answers', async () => {
    const streams = 1000;
    const open: ServerResponse[] = [];
    const { url, upstream } = await listenBefore((_req, res) => {
      res.writeHead(200);
      open.push(res);
      if (open.length === streams) for (const res of open) res.end('{}');
    });
    const answers = await Promise.all(
      Array.from({ length: streams }, async () => (await fetch(url)).text()),
    );
    expect(new Set(answers)).toEqual(new Set(['{}']));
    upstream.close();
  });

  it('don’t wait for those whose bodies come slowly', async () => {
    let arrived = 0;
    const { url, requests, begin, upstream } = await listenBefore((req, res) => {
      arrived += 1;
      req.resume().once('end', () => res.end(req.method));
    });
    const slow = Array.from({ length: 300 }, () => begin(70_000, '{')).concat(
      Array.from({ length: 300 }, () => begin(10, '{')),
    );
    await until(() => requests.length === 600);
    expect(await (await fetch(url)).text()).toBe('GET');
    await until(() => arrived === 301);
    slow.at(-1)?.write('"whole":1}'.slice(1));
    await until(() => arrived === 302);
    for (const socket of slow) socket.destroy();
    upstream.close();
  });

  it('leave the request as it is where the answer comes before its end', async () => {
    const { requests, begin, upstream } = await listenBefore((_req, res) => void res.end('early'));
    const socket = begin(70_000, '{');
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
    });
    await until(() => answer.includes('early'));
    expect(requests[0]?.socket?.destroyed).toBe(false);
    socket.destroy();
    upstream.close();
  });
});
