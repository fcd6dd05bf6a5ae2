import { connect, type Socket } from 'node:net';
import { routes as contractRoutes, defaultLimits } from '@backlot/contract';
import { createMemoryCounters } from '@backlot/counters';
import { until } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createPricedCalls, priced } from './testing/priced-calls.ts';
import { ownerId, projectSnapshot, secretKey, sha256 } from './testing/test-bed.ts';

const ai = '/api/runtime/demo/ai';
const batch = '/api/runtime/demo/db/notes/_batch';

describe('the body of a call that is refused whatever it says', () => {
  const { served, service, start, think, bed, close } = createPricedCalls();
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await close();
  });

  /** The answer to a call of whose body nothing is sent. */
  const sendHead = async (path: string, head = '') => {
    const socket = connect(bed().port, '127.0.0.1');
    sockets.push(socket);
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
    });
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n${head}\r\n`,
    );
    await until(() => answer !== '');
    return { answer, status: Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]) };
  };
  const post = (path: string, body: string) =>
    fetch(bed().url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });

  it.each([
    ['a priced call', [priced], ai, '{"most":1000}'],
    ['a batch', contractRoutes, batch, '{"delete":["id"]}'],
  ])('is not waited for where the limit of %s is spent', async (_what, routes, path, body) => {
    await start(100_000, { service: service((send) => send(200)), deps: { routes } });
    const limit = { perCaller: 2, perProject: 100 };
    const limits = { ...defaultLimits, ai: limit, write: limit };
    bed().fake.projects.set('demo', projectSnapshot({ id: 'demo', number: 1001, limits }));
    for (const status of [200, 200]) expect((await post(path, body)).status).toBe(status);
    const { status, answer } = await sendHead(path);
    expect(status).toBe(429);
    expect(answer).toContain('"caller";r=0');
    expect(answer).toMatch(/\r\nRetry-After: \d\d\r\n/);
  });

  it('is not waited for where the owner has no credits; the call is counted once', async () => {
    // Their clock stands: nothing of the caller's limit flows back while the test runs.
    const counters = createMemoryCounters(() => 0);
    await start(0, {
      service: service((send) => send(200, 1000)),
      deps: {
        counters,
        credits: { noteRefusal: async () => {}, loadOwner: () => counters.load(ownerId, 1000, 1) },
      },
    });
    expect((await think()).status).toBe(200);
    expect((await think()).status).toBe(402);
    const { status, answer } = await sendHead(ai);
    expect(status).toBe(402);
    expect(answer).toContain('"caller";r=57');
    await counters.load(ownerId, 5000, 2);
    const paid = await think({ most: 3000 });
    expect(paid.status).toBe(200);
    expect(paid.headers.get('ratelimit')).toContain('"caller";r=56');
    expect(served.map(({ reservation }) => reservation?.millicredits)).toEqual([1000, 3000]);
    expect(await counters.reserved(ownerId)).toBe(2000);
  });

  it('is not waited for where the key may not make the call', async () => {
    const deps = { routes: contractRoutes };
    await start(9000, { service: service((send) => send(200)), deps });
    const key = { id: 'key-1', projectNumber: 1001, scopes: ['read' as const] };
    bed().fake.keys.set(sha256(secretKey), key);
    const { status } = await sendHead(batch, `Authorization: Bearer ${secretKey}\r\n`);
    expect(status).toBe(403);
  });

  it('costs a call that passes no second question to the counters', async () => {
    const counters = createMemoryCounters(Date.now);
    let asked = 0;
    await start(0, {
      service: service((send) => send(200, 1000)),
      deps: {
        counters: {
          ...counters,
          admit: (...call) => {
            asked++;
            return counters.admit(...call);
          },
        },
        credits: { noteRefusal: async () => {}, loadOwner: () => counters.load(ownerId, 5000, 1) },
      },
    });
    await counters.load(ownerId, 5000, 1);
    for (const questions of [1, 2]) {
      expect((await think()).status).toBe(200);
      expect(asked).toBe(questions);
    }
  });
});
