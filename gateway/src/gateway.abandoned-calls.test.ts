import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { usageFollows, usageHeader } from '@backlot/contract';
import { createMemoryCounters } from '@backlot/counters';
import { identityRefusedHeader } from '@backlot/identity';
import { until } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createPricedCalls, priced, pricedBytes } from './testing/priced-calls.ts';
import { ownerId, type TestBedOptions } from './testing/test-bed.ts';
import { createHttpUpstream } from './upstream/http.ts';

describe('credits of calls whose caller left, or whose outcome nobody knows', () => {
  const { served, service, whereNames, over, start, think, bed, close } = createPricedCalls();
  afterEach(close);

  it.each(whereNames)(
    'lets go of the credits of bytes that broke off on their way (%s)',
    async (where) => {
      let arrived = false;
      const counters = await start(9000, {
        ...over(where),
        service: () => (req) => void req.once('data', () => (arrived = true)),
        deps: { routes: [pricedBytes] },
      });
      const socket = connect(bed().port, '127.0.0.1');
      socket.write(
        'POST /api/runtime/demo/ai HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\nbegin',
      );
      await until(() => arrived);
      expect(await counters.reserved(ownerId)).toBe(3000);
      socket.destroy();
      await until(async () => (await counters.reserved(ownerId)) === 0);
    },
  );

  it.each(
    whereNames.flatMap((where) => [
      [where, 'Content-Length: 5\r\n\r\nbytes'],
      [where, 'Transfer-Encoding: chunked\r\n\r\n5\r\nbytes\r\n0\r\n\r\n'],
    ]) as [(typeof whereNames)[number], string][],
  )(
    'learns what bytes that arrived whole were used for, though their caller left (%s, %j)',
    async (where, rest) => {
      let release: (() => void) | undefined;
      const counters = await start(9000, {
        ...over(where),
        service: () => (req, res) => {
          req.resume().once('end', () => {
            release = () => {
              res.writeHead(200, { [usageHeader]: '1000' });
              res.end('{}');
            };
          });
        },
        deps: { routes: [pricedBytes] },
      });
      const socket = connect(bed().port, '127.0.0.1');
      socket.write(`POST /api/runtime/demo/ai HTTP/1.1\r\nHost: x\r\n${rest}`);
      await until(() => release !== undefined);
      expect(await counters.reserved(ownerId)).toBe(3000);
      socket.destroy();
      await until(() => socket.closed);
      // By then the gateway knows.
      await fetch(bed().url);
      release?.();
      await until(async () => (await counters.reserved(ownerId)) === 1000);
    },
  );

  it('waits for a service no longer than for any other call, though the caller left', async () => {
    let isUnderWay = false;
    let isGivenUp = false;
    await start(9000, {
      ...over('http'),
      service: () => (req, res) => {
        res.once('close', () => {
          isGivenUp = true;
        });
        req.resume().once('end', () => {
          isUnderWay = true;
        });
      },
      // Longer than a busy machine takes to bring the bytes to the service.
      deps: { timeoutMs: 5000, routes: [pricedBytes] },
    });
    const socket = connect(bed().port, '127.0.0.1');
    socket.write('POST /api/runtime/demo/ai HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nbytes');
    await until(() => isUnderWay);
    socket.destroy();
    await until(() => isGivenUp);
  });

  it('asks nobody, and holds nothing, for a caller who goes while credits are reserved', async () => {
    const counters = createMemoryCounters(Date.now);
    let reserve: (() => void) | undefined;
    await start(9000, {
      service: service((send) => send(200, 1000)),
      deps: {
        credits: { noteRefusal: async () => {}, loadOwner: () => counters.load(ownerId, 9000, 1) },
        counters: {
          ...counters,
          async admit(...call) {
            const admission = await counters.admit(...call);
            if (admission.reservation?.kind === 'reserved')
              await new Promise<void>((resolve) => {
                reserve = resolve;
              });
            return admission;
          },
        },
      },
    });
    const socket = connect(bed().port, '127.0.0.1');
    socket.write('POST /api/runtime/demo/ai HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}');
    await until(() => reserve !== undefined);
    expect(await counters.reserved(ownerId)).toBe(9000);
    socket.destroy();
    await until(() => socket.closed);
    // By then the gateway knows.
    await fetch(bed().url);
    reserve?.();
    await until(async () => (await counters.reserved(ownerId)) === 0);
    expect(served).toEqual([]);
  });

  it('settles what was spent for a caller who has gone', async () => {
    let release = () => {};
    const counters = await start(9000, {
      service: service((send) => {
        release = () => send(200, 1700);
      }),
    });
    const socket = connect(bed().port, '127.0.0.1');
    const body = '{"most":3000}';
    socket.write(
      `POST /api/runtime/demo/ai HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until(() => served.length === 1);
    expect(await counters.reserved(ownerId)).toBe(3000);
    socket.destroy();
    await until(() => socket.closed);
    release();
    await until(async () => (await counters.reserved(ownerId)) === 1700);
  });

  it.each(whereNames)(
    'keeps the reservation of a streamed answer until it is booked (%s)',
    async (where) => {
      let finish = () => {};
      const counters = await start(9000, {
        ...over(where),
        service: () => (_req, res) => {
          res.writeHead(200, { 'Content-Type': 'text/event-stream', [usageHeader]: usageFollows });
          res.write('event: delta\n\n');
          finish = () => void res.end('event: done\n\n');
        },
      });
      const response = await fetch(`${bed().url}/api/runtime/demo/ai`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"most":3000}',
      });
      const reader = response.body?.getReader();
      const first = await reader?.read();
      expect(Buffer.from(first?.value ?? []).toString()).toBe('event: delta\n\n');
      expect(response.headers.has(usageHeader)).toBe(false);
      finish();
      await reader?.read();
      expect(await counters.reserved(ownerId)).toBe(3000);
    },
  );

  it.each(whereNames)(
    'ends a call that is to end with its caller, and leaves its credits to the ledger (%s)',
    async (where) => {
      let arrived = false;
      let isClosed = false;
      const counters = await start(9000, {
        ...over(where),
        service: () => (req, res) => {
          arrived = true;
          req.resume();
          res.on('close', () => {
            isClosed = true;
            if (!res.headersSent) res.writeHead(499);
          });
        },
        deps: { routes: [{ ...priced, price: { ...priced.price, endsWithCaller: true } }] },
      });
      const gone = new AbortController();
      const answer = fetch(`${bed().url}/api/runtime/demo/ai`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"most":3000}',
        signal: gone.signal,
      });
      await until(() => arrived);
      gone.abort();
      await expect(answer).rejects.toThrow();
      await until(() => isClosed);
      expect(await counters.reserved(ownerId)).toBe(3000);
    },
  );

  /** A service that ends each connection once this much of a request has come. */
  const startBreaking = async (untilSeen: string, options: TestBedOptions = {}) => {
    let seen = 0;
    const tcp = createTcpServer((socket) => {
      let head = '';
      socket.on('data', (chunk) => {
        head += chunk;
        if (!head.includes(untilSeen)) return;
        seen += 1;
        socket.destroy();
      });
      socket.on('error', () => {});
    });
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    const { port } = tcp.address() as AddressInfo;
    const counters = await start(90_000, {
      ...options,
      upstream: () => createHttpUpstream(`http://127.0.0.1:${port}`),
    });
    const stop = () => new Promise((resolve) => tcp.close(resolve));
    return { counters, stop, seen: () => seen };
  };
  /** Over the pool, and past what that holds over the proxy. */
  const bodies = [
    ['small', () => think({ most: 3000 })],
    [
      'streamed',
      () =>
        bed().call('POST', '/api/runtime/demo/ai', {
          body: 'x'.repeat(100_000),
          headers: { 'content-type': 'application/octet-stream' },
        }),
    ],
  ] as const;
  const routesFor = { small: [priced], streamed: [pricedBytes] };

  it.each(bodies)(
    'lets go of the credits of %s calls that never left, however many, and of none that did',
    async (kind, call) => {
      const deps = { routes: routesFor[kind] };
      const { counters, stop, seen } = await startBreaking('\r\n\r\n', { deps });
      expect(await call()).toMatchObject({ status: 503, body: { code: 'unavailable' } });
      expect(seen()).toBe(1);
      expect(await counters.reserved(ownerId)).toBe(3000);
      await stop();
      const answers = await Promise.all(Array.from({ length: 20 }, call));
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(503));
      await until(async () => (await counters.reserved(ownerId)) === 3000);
    },
  );

  it.each(bodies)(
    'holds what calls under way may have used when their service is killed, and nothing of later ones (%s)',
    async (kind, call) => {
      let arrived = 0;
      const servers: Server[] = [];
      const counters = await start(90_000, {
        upstream: async () => {
          const server = createServer((req) => void req.resume().once('end', () => arrived++));
          servers.push(server);
          await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
          return createHttpUpstream(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
        },
        deps: { routes: routesFor[kind] },
      });
      const underWay = Array.from({ length: 5 }, call);
      await until(() => arrived === 5);
      const [server] = servers;
      const closed = new Promise((resolve) => server?.close(resolve));
      server?.closeAllConnections();
      const late = Array.from({ length: 5 }, call);
      for (const { status } of await Promise.all([...underWay, ...late])) expect(status).toBe(503);
      await closed;
      await until(async () => (await counters.reserved(ownerId)) === 5 * 3000);
    },
  );

  it('lets go of the credits where the service refuses the gateway’s identity', async () => {
    const counters = await start(9000, {
      ...over('http'),
      service: () => (req, res) => {
        req.resume();
        res.writeHead(401, { [identityRefusedHeader]: 'unknown key' }).end();
      },
    });
    expect(await think({ most: 3000 })).toMatchObject({ status: 503 });
    await until(async () => (await counters.reserved(ownerId)) === 0);
  });

  it('keeps the reservation of a call whose outcome nobody knows', async () => {
    const counters = await start(9000, { service: service(() => {}), deps: { timeoutMs: 50 } });
    expect(await think({ most: 3000 })).toMatchObject({ status: 504 });
    expect(await counters.reserved(ownerId)).toBe(3000);
  });
});
