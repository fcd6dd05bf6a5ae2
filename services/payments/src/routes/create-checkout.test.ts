import { paymentRoutes } from '@backlot/contract';
import { asUser, refusesStrangers } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTestBed, order, publicUrl, returnUrl, type TestBed } from '../testing/test-bed.ts';

describe('createCheckout', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  const rows = () => bed.database.query<Record<string, unknown>>('SELECT * FROM payments');
  afterEach(async () => {
    await bed.database.query('DELETE FROM payments');
    await bed.database.query('DELETE FROM test_sessions');
  });

  refusesStrangers(
    paymentRoutes.createCheckout,
    () => bed.http,
    () => ({ path: '/payments/checkout', body: order }),
  );

  it('keeps the order and sends the payer to a page that nobody can guess', async () => {
    const userId = '018f0000-0000-7000-8000-00000000dddd';
    const { status, body } = await bed.checkout(order, { identity: asUser(userId) });
    expect(status).toBe(200);
    expect(body).toEqual({
      url: `${publicUrl}/api/runtime/testproject/payments/test-checkout/${body.sessionId}`,
      sessionId: expect.stringMatching(/^cs_test_[A-Za-z0-9_-]{43}$/),
    });
    expect(await rows()).toMatchObject([
      {
        project_number: 1001,
        user_id: userId,
        provider: 'test-checkout',
        session_id: body.sessionId,
        status: 'open',
        amount: 4248,
        currency: 'usd',
        return_url: returnUrl,
        metadata: { orderId: 'o-1' },
      },
    ]);
    expect(await bed.take('payment.changed')).toEqual([]);
  });

  it('answers a repetition under an Idempotency-Key with the same session', async () => {
    const headers = { 'idempotency-key': 'k1' };
    const answers = [
      await bed.checkout(order, { headers }),
      await bed.checkout(order, { headers }),
    ];
    expect(answers[1]?.body).toEqual(answers[0]?.body);
    expect(answers[1]?.headers.get('idempotent-replayed')).toBe('true');
    expect(await rows()).toHaveLength(1);
  });

  it('opens one session for twenty parallel calls with one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'k2' };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => bed.checkout(order, { headers })),
    );
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(await rows()).toHaveLength(1);
  });

  const item = { name: 'Mug', amount: 100 };
  const many = (count: number) => Array.from({ length: count }, () => item);
  it.each([
    ['no items', { items: [] }, '"items"'],
    ['51 items', { items: many(51) }, '"items"'],
    ['a quantity of 0', { items: [item, { ...item, quantity: 0 }] }, '"items.1.quantity"'],
    ['a quantity of 1000', { items: [{ ...item, quantity: 1000 }] }, '"items.0.quantity"'],
    ['a fraction', { items: [item, item, { ...item, amount: 19.99 }] }, '"items.2.amount"'],
    ['a negative amount', { items: [{ ...item, amount: -1 }] }, '"items.0.amount"'],
    ['an amount as text', { items: [{ ...item, amount: '100' }] }, '"items.0.amount"'],
    ['an amount too large', { items: [{ ...item, amount: 1e8 }] }, '"items.0.amount"'],
    ['an amount past doubles', { items: [{ ...item, amount: 1e300 }] }, '"items.0.amount"'],
    ['nothing to pay', { items: [{ ...item, amount: 0 }] }, '"items"'],
    ['a total too large', { items: [{ ...item, amount: 99_999_999, quantity: 2 }] }, '"items"'],
    ['an empty name', { items: [{ ...item, name: '' }] }, '"items.0.name"'],
    ['a long name', { items: [{ ...item, name: 'x'.repeat(251) }] }, '"items.0.name"'],
    ['an unknown currency', { currency: 'abc' }, '"currency"'],
    ['a currency that nobody pays in', { currency: 'XAU' }, '"currency"'],
    ['a long currency', { currency: 'usdx' }, '"currency"'],
    [
      'a last digit in KWD',
      { currency: 'KWD', items: [{ ...item, amount: 1005 }] },
      '"items.0.amount"',
    ],
    ['hundredths in ISK', { currency: 'isk', items: [item, { ...item, amount: 150 }] }, '"items.1'],
    ['a relative returnUrl', { returnUrl: '/thanks' }, '"returnUrl"'],
    ['a returnUrl of script', { returnUrl: 'javascript:alert(1)' }, '"returnUrl"'],
    ['a returnUrl of data', { returnUrl: 'data:text/html,x' }, '"returnUrl"'],
    ['a returnUrl with credentials', { returnUrl: 'https://a:b@c.example/' }, '"returnUrl"'],
    ['no returnUrl', { returnUrl: undefined }, '"returnUrl"'],
    ['nested metadata', { metadata: { a: { b: 1 } } }, '"metadata.a"'],
    ['a metadata key with brackets', { metadata: { 'a[b]': '1' } }, '"metadata'],
    [
      '21 metadata keys',
      { metadata: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`k${n}`, '1'])) },
      '"metadata"',
    ],
  ])('refuses %s and keeps nothing', async (_what, changes, named) => {
    const answer = await bed.checkout({ ...order, ...changes });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain(named);
    expect(await rows()).toEqual([]);
  });

  it.each([
    ['JPY', 500],
    ['Kwd', 1230],
    ['isk', 500],
    ['eur', 1],
  ])('takes %s in its smallest unit, in any case', async (currency, amount) => {
    const session = await bed.session({ ...order, currency, items: [{ name: 'One', amount }] });
    const { body } = await bed.verify(session);
    expect(body.payment).toMatchObject({ currency: currency.toLowerCase(), amount });
  });

  it('takes 50 items and metadata of scalars, kept as strings', async () => {
    const session = await bed.session({
      ...order,
      items: many(50),
      metadata: { n: 1.5, yes: true, text: 'ä' },
    });
    const { body } = await bed.verify(session);
    expect(body.payment).toMatchObject({
      amount: 5000,
      metadata: { n: '1.5', yes: 'true', text: 'ä' },
    });
    expect(body.payment.items).toHaveLength(50);
  });

  it('never fails on our side, whatever is sent', async () => {
    const junk = fc.anything({ withNullPrototype: true, withBigInt: false });
    const body = fc.oneof(
      junk,
      fc.record({
        items: fc.oneof(
          fc.array(fc.record({ name: junk, amount: junk, quantity: junk }, { requiredKeys: [] })),
          junk,
        ),
        currency: fc.oneof(fc.string(), junk),
        returnUrl: fc.oneof(fc.webUrl(), fc.string({ unit: 'binary' }), junk),
        metadata: fc.oneof(fc.dictionary(fc.string(), junk), junk),
      }),
      fc
        .record({
          name: fc.string({ minLength: 1, unit: 'binary' }),
          amount: fc.integer({ min: -1, max: 100_000_000 }),
          returnUrl: fc.webUrl({ withFragments: true, withQueryParameters: true }),
        })
        .map(({ returnUrl, ...item }) => ({ items: [item], returnUrl })),
    );
    await fc.assert(
      fc.asyncProperty(body, async (value) => {
        const answer = await bed.checkout(JSON.stringify(value) ?? '');
        expect([200, 400]).toContain(answer.status);
      }),
      { numRuns: 150 },
    );
  });
});

describe('a checkout that asks for what there is not', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it.each<[object, string, string]>([
    [{ mode: 'subscription' }, '"mode"', 'paid once'],
    [{ mode: 'setup' }, '"mode"', 'paid once'],
    [{ recurring: { interval: 'month' } }, '"recurring"', 'start another one'],
    [{ subscription_data: {} }, '"subscription_data"', 'start another one'],
    [{ discount: 10 }, '"discount"', 'no discounts'],
    [{ allow_promotion_codes: true }, '"allow_promotion_codes"', 'no discounts'],
    [{ items: [{ name: 'Mug', amount: 5, tax: 1 }] }, '"items.0.tax"', 'items of their own'],
    [{ items: [{ name: 'Mug', amount: 5, recurring: {} }] }, '"items.0.recurring"', 'once'],
    [{ cancelUrl: 'https://a.example' }, '"cancelUrl"', '"returnUrl"'],
    [{ capture_method: 'manual' }, '"capture_method"', 'at once'],
    [{ metadata: { order: null } }, '"metadata.order"', ''],
  ])('is refused by name, with the way: %j', async (changes, named, way) => {
    const answer = await bed.checkout({ ...order, ...changes });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain(named);
    expect(`${answer.body.error} ${answer.body.hint}`).toContain(way);
    expect(await bed.database.query('SELECT 1 FROM payments')).toEqual([]);
  });

  it('keeps no number of its metadata that was rounded', async () => {
    const text = JSON.stringify({ ...order, metadata: { order: 1 } });
    const answer = await bed.checkout(text.replace('"order":1', '"order":123456789012345678'));
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain('123456789012345678');
  });

  it('is taken where it says that it is paid once', async () => {
    expect(await bed.checkout({ ...order, mode: 'payment' })).toMatchObject({ status: 200 });
  });
});

describe('a project that lists its origins', () => {
  it('lets payers return there, and to their own machine, and nowhere else', async () => {
    const bed = await createTestBed({
      allowedOrigins: ['https://shop.example'],
    });
    const to = async (returnUrl: string) => (await bed.checkout({ ...order, returnUrl })).status;
    expect(await to('https://shop.example/thanks?a=1#x')).toBe(200);
    for (const own of ['http://localhost:3000', 'http://127.0.0.1:5173/x', 'http://[::1]:1/'])
      expect(await to(own)).toBe(200);
    for (const elsewhere of [
      'https://evil.example/',
      'https://shop.example.evil.example/',
      'https://shop.example:8443/',
      'http://shop.example/',
      'http://localhost.evil.example/',
    ])
      expect(await to(elsewhere)).toBe(400);
    expect(await bed.checkout({ ...order, returnUrl: 'https://evil.example' })).toMatchObject({
      body: { code: 'invalid_body', error: expect.stringContaining('"returnUrl"') },
    });
    expect(await bed.database.query('SELECT 1 FROM payments')).toHaveLength(4);
    await bed.close();
  });
});
