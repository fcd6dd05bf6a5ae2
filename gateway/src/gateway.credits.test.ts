import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { defineRoute, type RouteDefinition, usageFollows, usageHeader } from '@backlot/contract';
import { createMemoryCounters } from '@backlot/counters';
import { identityHeader, verifyIdentity } from '@backlot/identity';
import { serveForTest, testIdentitySecret, until } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createTestBed, ownerId, type TestBed, type TestBedOptions } from './test-bed.ts';
import { createHttpUpstream } from './upstream/http.ts';

const priced = defineRoute({
  operationId: 'think',
  service: 'ai',
  plane: 'runtime',
  method: 'POST',
  path: '/ai',
  summary: 'A priced call',
  callers: ['anonymous', 'user'],
  limit: 'ai',
  price: {
    needsBody: true,
    worstCaseMillicredits: ({ body }) =>
      Number((body as { most?: number } | undefined)?.most ?? 9000),
  },
  body: z.object({}),
  bodyLimitBytes: 1000,
  response: z.object({}),
  status: 200,
  errors: [],
});

const { body: _json, ...withoutBody } = priced;
/** The same call with bytes of any kind, which the service needs whole. */
const pricedBytes: RouteDefinition = {
  ...withoutBody,
  takes: 'bytes',
  bodyLimitBytes: 10_000_000,
  price: { needsBody: false, endsWithCaller: true, worstCaseMillicredits: () => 3000 },
};

interface Served {
  body: string;
  reservation: { callId: string; millicredits: number } | null | undefined;
}

describe('credits at the gateway', () => {
  let bed: TestBed;
  afterEach(() => bed.close());
  const served: Served[] = [];

  /** A service that reads its body and then answers as told. */
  const service =
    (answer: (send: (status: number, used?: number) => void) => void): (() => RequestListener) =>
    () =>
    (req, res) => {
      const identity = verifyIdentity(req.headers[identityHeader], testIdentitySecret, Date.now());
      let body = '';
      req.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      req.on('end', () => {
        served.push({ body, reservation: identity.reservation });
        answer((status, used) => {
          res.writeHead(status, {
            'Content-Type': 'application/json',
            ...(used === undefined ? {} : { [usageHeader]: String(used) }),
          });
          res.end('{}');
        });
      });
    };
  /** On a port of its own, or in the gateway's process. */
  const ways = {
    'in-process': undefined,
    http: async (app: RequestListener) => {
      const { url, stop } = await serveForTest(app);
      const upstream = createHttpUpstream(url);
      return {
        ...upstream,
        close() {
          upstream.close();
          void stop();
        },
      };
    },
  };
  const whereNames = Object.keys(ways) as (keyof typeof ways)[];
  const over = (where: keyof typeof ways): TestBedOptions => {
    const upstream = ways[where];
    return upstream ? { upstream } : {};
  };

  const start = async (balance: number, options: TestBedOptions) => {
    served.length = 0;
    const counters = createMemoryCounters(Date.now);
    bed = await createTestBed({
      ...options,
      deps: {
        routes: [priced],
        counters,
        credits: { loadOwner: () => counters.load(ownerId, balance, 1) },
        ...options.deps,
      },
    });
    return counters;
  };
  const think = (body: object | string = { most: 1000 }) =>
    bed.call('POST', '/api/runtime/demo/ai', { body });

  it('lets exactly k of n parallel calls through that cost one credit each', async () => {
    const counters = await start(20_000, { service: service((send) => send(200, 1000)) });
    const answers = await Promise.all(Array.from({ length: 60 }, () => think()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    const refused = answers.filter(({ status }) => status !== 200);
    for (const each of refused) {
      expect(each).toMatchObject({ status: 402, body: { code: 'out_of_credits' } });
      expect(each.headers.get('ratelimit')).toContain('"caller"');
    }
    expect(served).toHaveLength(20);
    expect(new Set(served.map(({ reservation }) => reservation?.callId)).size).toBe(20);
    expect(await counters.reserved(ownerId)).toBe(20_000);
  });

  it('reserves the worst case of the body, passes it on and settles to what was used', async () => {
    const counters = await start(10_000, { service: service((send) => send(200, 1200)) });
    const answer = await think({ most: 4000, text: 'ü' });
    expect(answer.status).toBe(200);
    expect(answer.headers.has(usageHeader)).toBe(false);
    expect(served).toMatchObject([
      { body: '{"most":4000,"text":"ü"}', reservation: { millicredits: 4000 } },
    ]);
    expect(await counters.reserved(ownerId)).toBe(1200);
  });

  it('knows a worst case that headers tell', async () => {
    const price = {
      needsBody: false,
      worstCaseMillicredits: ({ header }) => Number(header('x-most') ?? 9000),
    } satisfies RouteDefinition['price'];
    await start(10_000, {
      service: service((send) => send(200)),
      deps: { routes: [{ ...priced, price }] },
    });
    await bed.call('POST', '/api/runtime/demo/ai', { body: {}, headers: { 'x-most': '3000' } });
    await think();
    expect(served.map(({ reservation }) => reservation?.millicredits)).toEqual([3000, 9000]);
  });

  it.each(whereNames)(
    'lets go of the credits of bytes that broke off on their way (%s)',
    async (where) => {
      let arrived = false;
      const counters = await start(9000, {
        ...over(where),
        service: () => (req) => void req.once('data', () => (arrived = true)),
        deps: { routes: [pricedBytes] },
      });
      const socket = connect(bed.port, '127.0.0.1');
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
    'hears what bytes that have all come were used for, whoever has gone (%s, %j)',
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
      const socket = connect(bed.port, '127.0.0.1');
      socket.write(`POST /api/runtime/demo/ai HTTP/1.1\r\nHost: x\r\n${rest}`);
      await until(() => release !== undefined);
      expect(await counters.reserved(ownerId)).toBe(3000);
      socket.destroy();
      await until(() => socket.closed);
      // By then the gateway knows.
      await fetch(bed.url);
      release?.();
      await until(async () => (await counters.reserved(ownerId)) === 1000);
    },
  );

  it('hears a service for no longer than any other call, whoever has gone', async () => {
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
      deps: { timeoutMs: 1000, routes: [pricedBytes] },
    });
    const socket = connect(bed.port, '127.0.0.1');
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
        credits: { loadOwner: () => counters.load(ownerId, 9000, 1) },
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
    const socket = connect(bed.port, '127.0.0.1');
    socket.write('POST /api/runtime/demo/ai HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}');
    await until(() => reserve !== undefined);
    expect(await counters.reserved(ownerId)).toBe(9000);
    socket.destroy();
    await until(() => socket.closed);
    // By then the gateway knows.
    await fetch(bed.url);
    reserve?.();
    await until(async () => (await counters.reserved(ownerId)) === 0);
    expect(served).toEqual([]);
  });

  it('holds a call to what is left, and refuses it below one credit', async () => {
    await start(1500, { service: service((send) => send(200, 700)) });
    expect((await think({ most: 4000 })).status).toBe(200);
    expect(served[0]?.reservation?.millicredits).toBe(1500);
    expect((await think({ most: 4000 })).status).toBe(402);
  });

  it.each([
    ['refuses the body', (send: (status: number) => void) => send(400)],
    ['fails', (send: (status: number) => void) => send(502)],
    ['states no usage', (send: (status: number) => void) => send(200)],
  ])('gives all back when the service %s', async (_what, answer) => {
    const counters = await start(5000, { service: service(answer) });
    await think();
    expect(await counters.reserved(ownerId)).toBe(0);
  });

  it('takes no more than was reserved, whatever the service states', async () => {
    const counters = await start(9000, { service: service((send) => send(200, 99_999)) });
    await think({ most: 2000 });
    expect(await counters.reserved(ownerId)).toBe(2000);
  });

  it('counts a body that turns out to be too large, and charges nothing', async () => {
    const counters = await start(9000, { service: service((send) => send(200, 1000)) });
    const chunked = () =>
      fetch(`http://127.0.0.1:${bed.port}/api/runtime/demo/ai`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: ReadableStream.from([Buffer.alloc(900), Buffer.alloc(900)]),
        duplex: 'half',
      });
    const answer = await chunked();
    expect(answer.status).toBe(413);
    expect(answer.headers.get('ratelimit')).toContain('"caller"');
    expect(served).toEqual([]);
    expect(await counters.reserved(ownerId)).toBe(0);
    await counters.load(ownerId, 0, 2);
    expect((await chunked()).status).toBe(402);
  });

  it('settles what was spent for a caller who has gone', async () => {
    let release = () => {};
    const counters = await start(9000, {
      service: service((send) => {
        release = () => send(200, 1700);
      }),
    });
    const socket = connect(bed.port, '127.0.0.1');
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
      const response = await fetch(`${bed.url}/api/runtime/demo/ai`, {
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
      let heard = false;
      const counters = await start(9000, {
        ...over(where),
        service: () => (req, res) => {
          arrived = true;
          req.resume();
          res.on('close', () => {
            heard = true;
            if (!res.headersSent) res.writeHead(499);
          });
        },
        deps: { routes: [{ ...priced, price: { ...priced.price, endsWithCaller: true } }] },
      });
      const gone = new AbortController();
      const answer = fetch(`${bed.url}/api/runtime/demo/ai`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"most":3000}',
        signal: gone.signal,
      });
      await until(() => arrived);
      gone.abort();
      await expect(answer).rejects.toThrow();
      await until(() => heard);
      expect(await counters.reserved(ownerId)).toBe(3000);
    },
  );

  it('keeps the reservation of a call whose outcome nobody knows', async () => {
    const counters = await start(9000, { service: service(() => {}), deps: { timeoutMs: 50 } });
    expect(await think({ most: 3000 })).toMatchObject({ status: 504 });
    expect(await counters.reserved(ownerId)).toBe(3000);
  });

  it('finds out within a second that an owner without credits has got some', async () => {
    let balance = 1000;
    let seq = 0;
    let loads = 0;
    const counters = createMemoryCounters(Date.now);
    await start(0, {
      service: service((send) => send(200, 1000)),
      deps: {
        counters,
        credits: {
          loadOwner: async () => {
            loads++;
            await counters.load(ownerId, balance, ++seq);
          },
        },
      },
    });
    expect((await think()).status).toBe(200);
    expect((await think()).status).toBe(402);
    for (let n = 0; n < 5; n++) expect((await think()).status).toBe(402);
    expect(loads).toBe(2);
    balance = 2000;
    bed.clock.now += 1000;
    const served = await think();
    expect(served.status).toBe(200);
    expect(served.headers.get('ratelimit')).toContain('"caller";r=52');
  });

  it('answers 503 while an owner can not be loaded, and serves again afterwards', async () => {
    let fails = true;
    const counters = createMemoryCounters(Date.now);
    await start(0, {
      service: service((send) => send(200, 1000)),
      deps: {
        counters,
        credits: {
          loadOwner: async () => {
            if (fails) throw new Error('down');
            await counters.load(ownerId, 1000, 1);
          },
        },
      },
    });
    const refused = await think();
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(refused.headers.get('retry-after')).toBe('3');
    fails = false;
    expect((await think()).status).toBe(200);
  });

  it('answers 413 for a body past the limit, stated or not, and charges nothing', async () => {
    const counters = await start(9000, { service: service((send) => send(200, 1000)) });
    expect((await think(JSON.stringify({ text: 'x'.repeat(1000) }))).status).toBe(413);
    const streamed = await fetch(`${bed.url}/api/runtime/demo/ai`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: new Blob([JSON.stringify({ text: 'x'.repeat(1000) })]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect(streamed.status).toBe(413);
    expect(served).toEqual([]);
    expect(await counters.reserved(ownerId)).toBe(0);
  });
});
