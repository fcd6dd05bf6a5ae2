import { type RouteDefinition, usageHeader } from '@backlot/contract';
import { createMemoryCounters } from '@backlot/counters';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createPricedCalls, priced, thousandTokens } from './testing/priced-calls.ts';
import { ownerId } from './testing/test-bed.ts';

describe('credits at the gateway', () => {
  const { served, service, start, think, bed, close } = createPricedCalls();
  afterEach(close);

  it('lets exactly k of n parallel calls through that cost one credit each', async () => {
    const counters = await start(20_000, { service: service((send) => send(200, 1000)) });
    const answers = await Promise.all(Array.from({ length: 60 }, () => think()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    const refused = answers.filter(({ status }) => status !== 200);
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 402, body: { code: 'out_of_credits' } });
      expect(answer.headers.get('ratelimit')).toContain('"caller"');
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

  it('reserves by the price that the operator has set, and hands it on', async () => {
    const config = { priceChanges: { think: 3000 } };
    await start(10_000, { config, service: service((send) => send(200, 3000)) });
    for (const most of [1000, 2000, 5000]) await think({ most });
    expect(served.map(({ reservation }) => reservation)).toMatchObject([
      { millicredits: 3000, millicreditsPerUnit: 3000 },
      { millicredits: 6000, millicreditsPerUnit: 3000 },
      { millicredits: 4000, millicreditsPerUnit: 3000 },
    ]);
    expect(await think({ most: 1 })).toMatchObject({ status: 402 });
  });

  it('serves a call whose price is 0 to who has no credits', async () => {
    const config = { priceChanges: { think: 0 } };
    const counters = await start(0, { config, service: service((send) => send(200)) });
    expect((await think({ most: 5000 })).status).toBe(200);
    expect(served).toMatchObject([{ reservation: undefined }]);
    expect(await counters.reserved(ownerId)).toBe(0);
  });

  it('knows a worst case that headers tell', async () => {
    const price = {
      ...thousandTokens,
      needsBody: false,
      worstCase: ({ header }) => Number(header('x-most') ?? 9000),
    } satisfies RouteDefinition['price'];
    await start(10_000, {
      service: service((send) => send(200)),
      deps: { routes: [{ ...priced, price }] },
    });
    await bed().call('POST', '/api/runtime/demo/ai', { body: {}, headers: { 'x-most': '3000' } });
    await think();
    expect(served.map(({ reservation }) => reservation?.millicredits)).toEqual([3000, 9000]);
  });

  it('reserves nothing for a call that its price does not apply to, whoever has no credits', async () => {
    const price = {
      ...thousandTokens,
      needsBody: false,
      worstCase: () => 0,
      appliesTo: ({ header }) => header('x-most') === '0',
    } satisfies RouteDefinition['price'];
    const counters = await start(1000, {
      service: service((send) => send(200, 1000)),
      deps: { routes: [{ ...priced, price }] },
    });
    const ask = (most: string) =>
      bed().call('POST', '/api/runtime/demo/ai', { body: {}, headers: { 'x-most': most } });
    const answers = [await ask('0'), await ask('0'), await ask('7')];
    expect(answers.map(({ status }) => status)).toEqual([200, 402, 200]);
    expect(served.map(({ reservation }) => reservation?.millicredits)).toEqual([1000, undefined]);
    expect(await counters.reserved(ownerId)).toBe(1000);
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
      fetch(`http://127.0.0.1:${bed().port}/api/runtime/demo/ai`, {
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

  it('finds out within a second that an owner without credits has got some', async () => {
    let balance = 1000;
    let seq = 0;
    let loads = 0;
    // Their clock stands: nothing of the caller's limit flows back while the test runs.
    const counters = createMemoryCounters(() => 0);
    await start(0, {
      service: service((send) => send(200, 1000)),
      deps: {
        counters,
        credits: {
          noteRefusal: async () => {},
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
    bed().clock.now += 1000;
    const paid = await think();
    expect(paid.status).toBe(200);
    expect(paid.headers.get('ratelimit')).toContain('"caller";r=52');
  });

  it('answers 503 while an owner can not be loaded, and serves again afterwards', async () => {
    let fails = true;
    const counters = createMemoryCounters(Date.now);
    await start(0, {
      service: service((send) => send(200, 1000)),
      deps: {
        counters,
        credits: {
          noteRefusal: async () => {},
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

  it('refuses an owner without credits also while nobody can look whether there are new ones', async () => {
    const counters = createMemoryCounters(Date.now);
    let fails = false;
    await start(0, {
      service: service((send) => send(200, 1000)),
      deps: {
        counters,
        credits: {
          noteRefusal: async () => {},
          loadOwner: async () => {
            if (fails) throw new Error('down');
            await counters.load(ownerId, 1000, 1);
          },
        },
      },
    });
    expect((await think()).status).toBe(200);
    fails = true;
    expect(await think()).toMatchObject({ status: 402, body: { code: 'out_of_credits' } });
  });

  it('answers 413 for a body past the limit, stated or not, and charges nothing', async () => {
    const counters = await start(9000, { service: service((send) => send(200, 1000)) });
    expect((await think(JSON.stringify({ text: 'x'.repeat(1000) }))).status).toBe(413);
    const streamed = await fetch(`${bed().url}/api/runtime/demo/ai`, {
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
