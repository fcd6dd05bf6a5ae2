import { creditMillicredits } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { createVisitorBudgets } from '@backlot/service';
import { asKey, asOwner, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ModelProviderFailed } from '../model-provider/model-provider.ts';
import { fakeProvider } from '../testing/fake-provider.ts';
import { callId, createTestBed, reserved, type TestBed } from '../testing/test-bed.ts';

const hello = { messages: [{ role: 'user', content: 'Hello' }], maxTokens: 100 };
const noon = Date.UTC(2026, 10, 21, 12);

describe('the budget of a visitor', () => {
  let now = noon;
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ now: () => now });
  });
  afterAll(() => bed.close());
  beforeEach(async () => {
    now = noon;
    await bed.database.query('DELETE FROM visitor_days');
    await bed.takeUsage();
  });

  const withBudget = (credits: number | undefined, caller: Identity = reserved(10_000)) => ({
    ...caller,
    project: {
      ...testProject,
      settings: credits === undefined ? {} : { aiPerVisitorPerDay: credits },
    },
  });
  const ask = (credits: number | undefined, caller?: Identity, body: unknown = hello) =>
    bed.ask(body, { identity: withBudget(credits, caller) });
  /** Of the visitor and of their address, which are equal where nobody else is there. */
  const days = async () => {
    const rows = await bed.database.query<{ used: number }>(
      'SELECT millicredits AS used FROM visitor_days ORDER BY used',
    );
    return rows.map(({ used }) => used);
  };

  it('ends the day at 429, until midnight UTC', async () => {
    for (let call = 0; call < 3; call++) expect((await ask(3)).status).toBe(200);
    const refused = await ask(3);
    expect(refused).toMatchObject({ status: 429, body: { code: 'visitor_budget' } });
    expect(refused.headers.get('retry-after')).toBe(String(12 * 60 * 60));
    expect(await bed.takeUsage()).toHaveLength(3);
    now = noon + 12 * 60 * 60 * 1000;
    expect((await ask(3)).status).toBe(200);
  });

  it('lets exactly as many of parallel calls pass', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(7)));
    const passed = answers.filter(({ status }) => status === 200);
    expect(passed).toHaveLength(7);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(13);
    expect(await days()).toEqual([7000, 7000]);
    expect(await bed.takeUsage()).toHaveLength(7);
  });

  it('counts what was used, not what was reserved', async () => {
    for (let call = 0; call < 2; call++) {
      expect((await ask(10, undefined, { ...hello, maxTokens: 4096 })).status).toBe(200);
    }
    expect(await days()).toEqual([2000, 2000]);
  });

  it('holds an answer to what is left, and tells 429 where that is too little', async () => {
    const messages = [{ role: 'user', content: 'y'.repeat(3980) }];
    const short = await ask(1, undefined, { messages });
    expect(short.status).toBe(200);
    expect(short.body.text).toHaveLength(20);
    await bed.database.query('DELETE FROM visitor_days');
    const tooLong = { messages: [{ role: 'user', content: 'y'.repeat(4000) }] };
    expect(await ask(1, undefined, tooLong)).toMatchObject({ body: { code: 'visitor_budget' } });
    const json = { type: 'string', minLength: 100 };
    expect(await ask(1, undefined, { messages, json })).toMatchObject({
      body: { code: 'visitor_budget' },
    });
    expect(await days()).toEqual([0, 0]);
  });

  it('is given back where the call fails', async () => {
    bed.useProvider(
      fakeProvider(async () => {
        throw new ModelProviderFailed('down');
      }),
    );
    for (const stream of [false, true]) {
      expect((await ask(1, undefined, { ...hello, stream })).status).toBe(502);
    }
    expect(
      (await ask(1, undefined, { ...hello, json: { properties: { a: { type: 'banana' } } } }))
        .status,
    ).toBe(400);
    expect(await days()).toEqual([0, 0]);
    bed.useProvider(
      fakeProvider(async () => ({ text: 'x', promptTokens: 1, outputTokens: 1, isCut: false })),
    );
    for (const stream of [false, true]) {
      expect((await ask(2, undefined, { ...hello, stream })).status).toBe(200);
    }
    expect(await days()).toEqual([2000, 2000]);
  });

  it('is each user’s own, and each address’s where nobody is signed in', async () => {
    const user = (n: number) =>
      asUser(`018f0000-0000-7000-8000-00000000000${n}`, {
        reservation: { callId, millicredits: 10_000, millicreditsPerUnit: 1000 },
      });
    const visitors = [user(1), user(2), reserved(10_000), { ...reserved(9000), ip: '192.0.2.9' }];
    for (const visitor of visitors) expect((await ask(1, visitor)).status).toBe(200);
    for (const visitor of visitors) expect((await ask(1, visitor)).status).toBe(429);
  });

  it('is no greater for who signs up anew: an address has that of five visitors', async () => {
    const user = (n: number, ip: string) =>
      asUser(`018f0000-0000-7000-8000-0000000000${n}`, {
        reservation: { callId, millicredits: 10_000, millicreditsPerUnit: 1000 },
        ip,
      });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => ask(2, user(10 + n, '2001:db8::/64'))),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
    expect((await days()).at(-1)).toBe(10_000);
    expect((await ask(2, user(99, '2001:db8::/64'))).body).toMatchObject({
      code: 'visitor_budget',
    });
    expect((await ask(2, user(99, '2001:db8:0:1::/64'))).status).toBe(200);
  });

  it('is kept by parallel calls of a visitor from many addresses', async () => {
    const from = (n: number) => ({
      ...asUser('018f0000-0000-7000-8000-000000000001'),
      reservation: { callId, millicredits: 10_000, millicreditsPerUnit: 1000 },
      ip: `192.0.2.${n % 5}`,
    });
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => ask(7, from(n))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(23);
  });

  it('holds for visitors only, and where one is set; 0 allows nothing', async () => {
    for (const caller of [asOwner(), asKey()]) expect((await ask(0, caller)).status).toBe(200);
    expect((await ask(undefined)).status).toBe(200);
    expect((await ask(0)).status).toBe(429);
    expect(await days()).toEqual([]);
  });

  it('is forgotten after two days', async () => {
    await ask(5);
    const budgets = createVisitorBudgets(bed.database, () => now, {
      setting: 'aiPerVisitorPerDay',
      column: 'millicredits',
      unitsPerBudget: creditMillicredits,
    });
    now = noon + 2 * 24 * 60 * 60 * 1000;
    await budgets.sweep();
    expect(await days()).toHaveLength(2);
    now = noon + 3 * 24 * 60 * 60 * 1000;
    await budgets.sweep();
    expect(await days()).toEqual([]);
  });
});
