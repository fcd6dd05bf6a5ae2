import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { createSilenceGuard } from '@backlot/http';
import { until } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createPricedCalls } from '../testing/priced-calls.ts';
import { createTestBed, ownerId } from '../testing/test-bed.ts';
import { createHttpUpstream } from './http.ts';

const times = { lookMs: 20, suspectMs: 60, probeMs: 500, probeEveryMs: 50 };
/** Of a call; whoever waits for it has not noticed the silence. */
const timeoutMs = 120_000;
const list = '/api/runtime/demo/db/notes';

/** Answers all, but begins an answer to `…/begun` whose end comes with `…/end`. */
const serviceProcess = `
  const { createServer } = require('node:http');
  const begun = [];
  const server = createServer((req, res) => {
    if (req.url.endsWith('/begun')) { res.write('[1'); begun.push(res); return; }
    if (req.url.endsWith('/end')) for (const other of begun) other.end(',2]');
    req.resume().once('end', () => res.end('{}'));
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A service behind HTTP whose changes between silent and not are noted. */
const guarded = (port: number) => {
  const changes: boolean[] = [];
  const origin = `http://127.0.0.1:${port}`;
  const guard = createSilenceGuard(origin, (isSilent) => void changes.push(isSilent), times);
  return { changes, upstream: createHttpUpstream(origin, guard) };
};

const startProcess = async () => {
  const child: ChildProcess = spawn(process.execPath, ['-e', serviceProcess]);
  closing.push(() => child.kill('SIGKILL'));
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return { child, ...guarded(Number(line)) };
};

const listenWith = async (service: RequestListener) => {
  const server: Server = createServer(service);
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return guarded((server.address() as AddressInfo).port);
};

const startGateway = async (upstream: ReturnType<typeof createHttpUpstream>) => {
  const bed = await createTestBed({ upstream: () => upstream, deps: { timeoutMs } });
  closing.push(() => bed.close());
  return bed;
};

describe('a service that is frozen', () => {
  it('has its calls answered 503 that wait, and new ones at once, until it answers again', async () => {
    const { child, changes, upstream } = await startProcess();
    const { call, url } = await startGateway(upstream);
    const begun = await fetch(`${url}${list}/begun`);
    expect((await call('GET', list)).status).toBe(200);
    child.kill('SIGSTOP');
    const form = new FormData();
    form.set('file', new Blob(['x'.repeat(100_000)]), 'x.txt');
    const upload = fetch(`${url}/api/runtime/demo/storage/upload`, { method: 'POST', body: form });
    const answers = await Promise.all([
      call('GET', list),
      call('POST', list, { body: { data: {} } }),
      call('POST', list, { body: { data: { text: 'x'.repeat(100_000) } } }),
    ]);
    answers.push(await call('GET', list));
    for (const { status, headers, body } of answers)
      expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'unavailable', '2']);
    expect((await upload).status).toBe(503);
    expect(changes).toEqual([true]);
    child.kill('SIGCONT');
    await until(() => changes.length === 2);
    expect((await call('GET', `${list}/end`)).status).toBe(200);
    expect(await begun.text()).toBe('[1,2]');
  });

  it('keeps the credits of calls that it may have done, and none of those that it never got', async () => {
    const { child, changes, upstream } = await startProcess();
    const calls = createPricedCalls();
    const counters = await calls.start(100_000, {
      upstream: () => upstream,
      deps: { timeoutMs },
    });
    closing.push(() => calls.close());
    child.kill('SIGSTOP');
    expect((await calls.think({ most: 1000 })).status).toBe(503);
    expect(await counters.reserved(ownerId)).toBe(1000);
    expect((await calls.think({ most: 5000 })).status).toBe(503);
    expect(await counters.reserved(ownerId)).toBe(1000);
    expect(changes).toEqual([true]);
  });
});

it('a service is asked on one connection at a time, whoever waits', async () => {
  const asking = new Set<Socket>();
  let asked = 0;
  let most = 0;
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.on('close', () => asking.delete(socket));
    socket.on('data', (data) => {
      if (!data.toString().startsWith('GET /healthz ')) return;
      asked += 1;
      asking.add(socket);
      most = Math.max(most, asking.size);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  const { upstream } = guarded((server.address() as AddressInfo).port);
  const { call } = await startGateway(upstream);
  const answers = await Promise.all(Array.from({ length: 40 }, () => call('GET', list)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  await until(() => asked > 2);
  expect(most).toBe(1);
  server.close();
  for (const socket of asking) socket.destroy();
});

it('a service that answers its probes may take what it takes', async () => {
  let probes = 0;
  const waiting: (() => void)[] = [];
  const { changes, upstream } = await listenWith((req, res) => {
    if (req.url !== '/healthz') return void waiting.push(() => res.end('{}'));
    probes += 1;
    res.end('{}');
  });
  const { call } = await startGateway(upstream);
  const answer = call('GET', list);
  await until(() => probes > 2);
  for (const end of waiting) end();
  expect((await answer).status).toBe(200);
  expect(changes).toEqual([]);
});

it('a service that answers others is not silent, whatever its probes wait for', async () => {
  let probes = 0;
  const waiting: (() => void)[] = [];
  const { changes, upstream } = await listenWith((req, res) => {
    if (req.url === '/healthz') probes += 1;
    else if (req.url?.endsWith('/slow')) waiting.push(() => res.end('{}'));
    else res.end('{}');
  });
  const { call } = await startGateway(upstream);
  const answer = call('GET', `${list}/slow`);
  await until(async () => (await call('GET', list)).status === 200 && probes > 2);
  for (const end of waiting) end();
  expect((await answer).status).toBe(200);
  expect(changes).toEqual([]);
});
