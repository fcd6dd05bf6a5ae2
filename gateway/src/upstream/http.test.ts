import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { type ServiceName, serviceNames } from '@backlot/contract';
import { bareApp, errorHandler, internalOnly } from '@backlot/http';
import { createLogger } from '@backlot/telemetry';
import { testIdentityKeys } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';
import { upstreamConformance } from '../testing/upstream.conformance.ts';
import { createHttpUpstream, createHttpUpstreams } from './http.ts';
import { createProxyUpstream } from './proxy.ts';

const servers: Server[] = [];
const listen = async (service: RequestListener) => {
  const server = createServer(service);
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

it('lets a thousand answers of a model stream at a time', async () => {
  const streams = 1000;
  const open: ServerResponse[] = [];
  const origin = await listen((_req, res) => {
    res.writeHead(200);
    open.push(res);
    if (open.length === streams) for (const res of open) res.end('{}');
  });
  const origins = Object.fromEntries(serviceNames.map((name) => [name, origin]));
  const upstreams = createHttpUpstreams(origins as Record<ServiceName, string>);
  const gateway = await listen((req, res) => {
    upstreams.ai.forward(req, res, () => res.destroy());
  });
  const answers = await Promise.all(
    Array.from({ length: streams }, async () => (await fetch(gateway)).text()),
  );
  expect(new Set(answers)).toEqual(new Set(['{}']));
  for (const upstream of Object.values(upstreams)) upstream.close();
}, 60_000);
