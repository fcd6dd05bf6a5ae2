import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type Listening, serve } from '@backlot/http';
import { until } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { defaultAddressBounds } from './addresses/address-bounds.ts';
import { usualPace } from './addresses/body-pace.ts';
import { createPricedCalls, priced } from './testing/priced-calls.ts';
import { createTestBed, type TestBed, type TestBedOptions } from './testing/test-bed.ts';

const list = '/api/runtime/demo/db/notes';
const upload = '/api/runtime/demo/storage/upload';
const quick = { ...usualPace, firstMs: 100, windowMs: 100 };
const cutNow = AbortSignal.abort();

/** A connection that says so much and waits. */
const say = (port: number, text: string) => {
  const socket: Socket = connect(port, '127.0.0.1');
  const seen = { answer: '', isClosed: false };
  socket.on('data', (data) => {
    seen.answer += data;
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    seen.isClosed = true;
  });
  socket.write(text);
  return { socket, seen };
};
const post = (path: string, sizeBytes: number, address: string, body = '{') =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\nContent-Type: application/json\r\nContent-Length: ${sizeBytes}\r\n\r\n${body}`;
const status = (answer: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);

describe('bodies that come slowly', () => {
  let close = async () => {};
  afterEach(() => close());
  const listen = async (bed: TestBed) => {
    const { port, stop }: Listening = await serve(bed.gateway.app, { port: 0, host: '127.0.0.1' });
    close = async () => {
      await stop(cutNow);
      await bed.close();
    };
    return port;
  };
  const calls = createPricedCalls();

  it.each([
    ['passed on', list],
    ['held for its price', '/api/runtime/demo/ai'],
  ])('end with 408 where the body is %s', async (_where, path) => {
    const bed = await createTestBed({ deps: { pace: quick } });
    const { socket, seen } = say(await listen(bed), post(path, 9000, '203.0.113.1'));
    await once(socket, 'close');
    expect(status(seen.answer)).toBe(408);
    expect(seen.answer).toMatch(/\r\nAccess-Control-Allow-Origin: \*\r\n/);
    expect(seen.answer).toMatch(/\r\nConnection: close\r\n/);
    expect(seen.answer).toContain('"code":"request_timeout"');
  });

  it('end their connection where the answer does not wait for them', async () => {
    const service = (): RequestListener => (_req, res) => void res.end('early');
    // Time enough for an answer on a busy machine.
    const pace = { ...quick, firstMs: 2000 };
    const bed = await createTestBed({ service, deps: { pace } });
    const { socket, seen } = say(await listen(bed), post(list, 9000, '203.0.113.1'));
    await once(socket, 'close');
    expect(status(seen.answer)).toBe(200);
  });

  it('are the service’s to judge where they are uploads', async () => {
    const bed = await createTestBed({ deps: { pace: quick } });
    const port = await listen(bed);
    const file = say(port, post(upload, 9000, '203.0.113.1'));
    const record = say(port, post(list, 9000, '203.0.113.1'));
    await once(record.socket, 'close');
    expect(file.seen).toEqual({ answer: '', isClosed: false });
    file.socket.destroy();
  });

  const thousandBytes: TestBedOptions = {
    config: {
      trustedProxies: 1,
      addressBounds: { ...defaultAddressBounds, bodyBytes: 8500 },
    },
    deps: { routes: [priced], pace: { ...usualPace, firstMs: 600_000 } },
  };

  it('hold no more bytes than their address, and all, may have', async () => {
    await calls.start(100_000, thousandBytes);
    const port = await listen(calls.bed());
    const held = (address: string) => say(port, post('/api/runtime/demo/ai', 1000, address));
    // 300 connections from one address, of which eight hold what they may.
    const many = Array.from({ length: 300 }, () => held('203.0.113.1'));
    await until(() => many.filter(({ seen }) => seen.answer !== '').length === 292);
    const refused = many.filter(({ seen }) => seen.answer !== '');
    expect(new Set(refused.map(({ seen }) => status(seen.answer)))).toEqual(new Set([429]));
    expect(refused[0]?.seen.answer).toMatch(/\r\nRetry-After: \d\r\n/);

    // From 20 more addresses at once: there is room for a stranger's.
    const others = Array.from({ length: 60 }, (_, n) => held(`198.51.100.${n % 20}`));
    await until(() => others.some(({ seen }) => status(seen.answer) === 503));
    const body = JSON.stringify({ most: 1000 });
    const ask = async (address: string) => {
      const { seen } = say(port, post('/api/runtime/demo/ai', body.length, address, body));
      await until(() => seen.answer !== '');
      return status(seen.answer);
    };
    expect(await ask('192.0.2.1')).toBe(200);

    // What has left holds nothing.
    for (const { socket } of [...many, ...others]) socket.destroy();
    await until(async () => (await ask('203.0.113.1')) === 200);
  });
});

describe('bodies in work', () => {
  const batch = `${list}/_batch`;
  let close = async () => {};
  afterEach(() => close());
  const given = async (bodyBytes: number) => {
    const waiting: (() => void)[] = [];
    const bed = await createTestBed({
      service: () => (req, res) => {
        req.resume().once('end', () => waiting.push(() => res.end('{}')));
      },
      config: { trustedProxies: 1, addressBounds: { ...defaultAddressBounds, bodyBytes } },
    });
    const { port, stop } = await serve(bed.gateway.app, { port: 0, host: '127.0.0.1' });
    close = async () => {
      await stop(cutNow);
      await bed.close();
    };
    return { port, waiting };
  };
  const isRefused = ({ seen }: ReturnType<typeof say>) => status(seen.answer) === 429;

  it('are counted until their calls are answered', async () => {
    const { port, waiting } = await given(3500);
    const start = () => say(port, post(batch, 1000, '203.0.113.1', ''));
    const calls = Array.from({ length: 4 }, start);
    await until(() => calls.some(isRefused));
    for (const { socket } of calls) socket.write('{}'.padEnd(1000));
    await until(() => waiting.length === 3);
    const next = start();
    await until(() => isRefused(next));
    for (const answer of waiting.splice(0)) answer();
    await until(() => calls.every(({ seen }) => seen.answer !== ''));
    const last = start();
    last.socket.write('{}'.padEnd(1000));
    await until(() => waiting.length === 1);
  });

  it('count as the most that they may become where they are compressed', async () => {
    const { port, waiting } = await given(3.5 * 8 * 1024 * 1024);
    const packed = '203.0.113.1\r\nContent-Encoding: gzip';
    const calls = Array.from({ length: 5 }, () =>
      say(port, post(batch, 20, packed, 'x'.repeat(20))),
    );
    await until(() => calls.filter(isRefused).length === 2);
    await until(() => waiting.length === 3);
  });
});

describe('the body of a caller who has gone', () => {
  it('holds no bytes, where it went while it was looked up', async () => {
    const calls = createPricedCalls();
    await calls.start(100_000, {
      config: { addressBounds: { ...defaultAddressBounds, bodyBytes: 2005 } },
      deps: { routes: [priced] },
    });
    const bed = calls.bed();
    const known = { token: bed.token(), body: { most: 1000 } };
    expect((await bed.call('POST', '/api/runtime/demo/ai', known)).status).toBe(200);
    for (let n = 0; n < 3; n++) {
      let find = () => {};
      bed.fake.gate = new Promise<void>((resolve) => {
        find = resolve;
      });
      const token = bed.token({ sid: `gone-${n}` });
      const { socket, seen } = say(
        bed.port,
        post('/api/runtime/demo/ai', 1000, `-\r\nAuthorization: Bearer ${token}`, ''),
      );
      await until(() => bed.fake.asked.some((question) => question.endsWith(`:gone-${n}`)));
      socket.destroy();
      await until(() => seen.isClosed);
      bed.fake.gate = undefined;
      // By then the gateway knows that it has gone.
      await fetch(bed.url);
      find();
    }
    const answers = await Promise.all([calls.think(), calls.think()]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await calls.close();
  });
});

describe('what one address has open', () => {
  let bed: TestBed;
  let listening: Listening;
  afterEach(async () => {
    await listening.stop(cutNow);
    await bed.close();
  });
  const given = async (bounds: object, trustedProxies: number) => {
    const waiting: (() => void)[] = [];
    bed = await createTestBed({
      service: () => (_req, res) => void waiting.push(() => res.end('{}')),
      config: { trustedProxies, addressBounds: { ...defaultAddressBounds, ...bounds } },
    });
    const { app, acceptConnection } = bed.gateway;
    listening = await serve(app, { port: 0, host: '127.0.0.1', acceptConnection });
    return waiting;
  };
  const get = (address: string, method = 'GET') =>
    say(
      listening.port,
      `${method} ${list} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Forwarded-For: ${address}\r\n\r\n`,
    );

  it('is bounded in calls, which are refused before anything of them is looked at', async () => {
    const waiting = await given({ openCalls: 3 }, 1);
    const open = [get('203.0.113.1'), get('203.0.113.1'), get('203.0.113.1')];
    await until(() => waiting.length === 3);
    const asked = bed.fake.asked.length;
    const refused = get('203.0.113.1');
    await once(refused.socket, 'close');
    expect(status(refused.seen.answer)).toBe(429);
    expect(refused.seen.answer).toMatch(/\r\nRetry-After: \d\r\n/);
    expect(refused.seen.answer).toMatch(/\r\nAccess-Control-Allow-Origin: \*\r\n/);
    expect(bed.fake.asked).toHaveLength(asked);
    for (const [address, expected] of [
      ['203.0.113.1', 429] as const,
      ['198.51.100.1', 204] as const,
    ]) {
      const preflight = get(address, 'OPTIONS');
      await once(preflight.socket, 'close');
      expect(status(preflight.seen.answer)).toBe(expected);
    }
    get('198.51.100.1');
    await until(() => waiting.length === 4);
    for (const answer of waiting.splice(0)) answer();
    for (const { socket, seen } of open) {
      if (!seen.isClosed) await once(socket, 'close');
      expect(status(seen.answer)).toBe(200);
    }
    get('203.0.113.1');
    await until(() => waiting.length === 1);
    waiting[0]?.();
  });

  it('is bounded in connections, where they are the clients’ own', async () => {
    const waiting = await given({ connections: 2 }, 0);
    const open = [get('-'), get('-')];
    await until(() => waiting.length === 2);
    const third = get('-');
    await until(() => third.seen.isClosed);
    expect(third.seen.answer).toBe('');
    for (const answer of waiting.splice(0)) answer();
    await until(() => open.every(({ seen }) => seen.isClosed));
    // The server hears of a close a moment after the client.
    await until(async () => {
      const next = get('-');
      await until(() => waiting.length === 1 || next.seen.isClosed);
      return waiting.length === 1;
    });
    waiting[0]?.();
  });

  it('is not bounded in connections behind a proxy', async () => {
    const waiting = await given({ connections: 2 }, 1);
    for (const n of [1, 2, 3, 4]) get(`203.0.113.${n}`);
    await until(() => waiting.length === 4);
    for (const answer of waiting) answer();
  });
});
