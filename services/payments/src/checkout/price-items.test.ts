import { randomUUID } from 'node:crypto';
import { anonymous, asKey, asOwner, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  order,
  otherProject,
  returnUrl,
  type TestBed,
} from '../testing/test-bed.ts';

describe('a checkout of products', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
    const products = {
      mug: { name: 'Mug', amount: 1999, stock: 3 },
      card: { name: 'Card', amount: 250 },
      gift: { name: 'Gift', amount: 0 },
      gone: { name: 'Gone', amount: 100, active: false },
      tasse: { name: 'Tasse', amount: 2500, currency: 'eur' },
    };
    for (const [id, body] of Object.entries(products))
      expect(await bed.call('PUT', `/products/${id}`, { identity: asKey(), body })).toMatchObject({
        status: 200,
      });
    await bed.call('PUT', '/products/foreign', {
      identity: asKey({ project: otherProject }),
      body: products.mug,
    });
    await bed.owner('PUT', '/on-paid/order', {
      collection: 'orders',
      set: { status: 'paid' },
      pays: 'items',
    });
  });
  afterAll(() => bed.close());
  const buy = (items: object[], changes: object = {}, identity = anonymous()) =>
    bed.checkout({ items, returnUrl, ...changes }, { identity });
  const rows = () => bed.database.query('SELECT * FROM payments');

  it('has their names and amounts, whatever the browser shows', async () => {
    const answer = await buy([{ product: 'mug', quantity: 2 }, { product: 'card' }]);
    expect(answer).toMatchObject({ status: 200 });
    const { payment } = (await bed.verify(answer.body.sessionId)).body;
    expect(payment).toMatchObject({
      amount: 4248,
      currency: 'usd',
      items: [
        { product: 'mug', name: 'Mug', amount: 1999, quantity: 2 },
        { product: 'card', name: 'Card', amount: 250, quantity: 1 },
      ],
    });
  });

  it('keeps the price that it began with', async () => {
    const { body } = await buy([{ product: 'card' }]);
    await bed.call('PUT', '/products/card', {
      identity: asKey(),
      body: { name: 'Card', amount: 300 },
    });
    await bed.press(body.sessionId, 'pay');
    expect((await bed.verify(body.sessionId)).body.payment.amount).toBe(250);
  });

  it('is paid in the currency of the products', async () => {
    const { body } = await buy([{ product: 'tasse' }]);
    expect((await bed.verify(body.sessionId)).body.payment.currency).toBe('eur');
  });

  const recordId = randomUUID();
  it.each([
    ['a price beside a product', [{ product: 'mug', amount: 1 }], {}, '"items.0.amount"'],
    ['a name beside a product', [{ product: 'mug', name: 'Mug' }], {}, '"items.0.name"'],
    ['neither product nor name', [{ amount: 100 }], {}, '"items.0.name"'],
    [
      'a product that is not there',
      [{ product: 'card' }, { product: 'x' }],
      {},
      '"items.1.product"',
    ],
    ['a product that is not for sale', [{ product: 'gone' }], {}, '"items.0.product"'],
    ['a product of another project', [{ product: 'foreign' }], {}, '"items.0.product"'],
    ['two currencies', [{ product: 'mug' }, { product: 'tasse' }], {}, '"items.1.product"'],
    ['another currency', [{ product: 'mug' }], { currency: 'eur' }, '"items.0.product"'],
    ['nothing to pay', [{ product: 'gift' }], {}, '"items"'],
    [
      'too much to pay',
      Array(50).fill({ product: 'tasse', quantity: 999 }),
      { currency: 'EUR' },
      '"items"',
    ],
    [
      'a rule that is not there',
      [{ product: 'mug' }],
      { onPaid: { rule: 'x', recordId } },
      '"onPaid.rule"',
    ],
    ['no record', [{ product: 'mug' }], { onPaid: { rule: 'order' } }, '"onPaid.recordId"'],
    [
      'a record that can not be',
      [{ product: 'mug' }],
      { onPaid: { rule: 'order', recordId: 'x' } },
      '"onPaid.recordId"',
    ],
    [
      'a free amount for a record',
      [{ product: 'card' }, { name: 'Mug', amount: 1 }],
      { onPaid: { rule: 'order', recordId } },
      '"items.1.amount"',
    ],
  ])('refuses %s and keeps nothing', async (_what, items, changes, named) => {
    const before = (await rows()).length;
    for (const identity of [anonymous(), asUser(randomUUID())]) {
      const answer = await buy(items, changes, identity);
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
      expect(answer.body.error).toContain(named);
    }
    expect(await rows()).toHaveLength(before);
  });

  it('says at once that too few are left, also where they stand in several items', async () => {
    for (const items of [
      [{ product: 'mug', quantity: 4 }],
      [{ product: 'mug', quantity: 2 }, { product: 'card' }, { product: 'mug', quantity: 2 }],
    ]) {
      const answer = await buy(items);
      expect(answer).toMatchObject({ status: 409, body: { code: 'out_of_stock' } });
      expect(answer.body.error).toBe('"items.0.product": of "mug" only 3 are left.');
    }
  });

  it('pays for a record as its rule says, before anybody pays for nothing', async () => {
    const onPaid = { rule: 'judged', recordId };
    const judgeBy = (pays: object) =>
      bed.owner('PUT', '/on-paid/judged', { collection: 'orders', set: {}, pays });
    await judgeBy({ product: 'mug' });
    expect(await buy([{ product: 'card' }], { onPaid })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('the product "mug"') },
    });
    expect(await buy([{ product: 'mug' }], { onPaid })).toMatchObject({ status: 200 });
    await judgeBy({ amount: 500, currency: 'usd' });
    const gift = (amount: number) => buy([{ name: 'Gift', amount }], { onPaid, currency: 'usd' });
    expect(await gift(499)).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(await gift(500)).toMatchObject({ status: 200 });
  });

  it('may have a free amount for a record where the owner or a key sets it', async () => {
    for (const identity of [asOwner(), asKey()])
      expect(
        await buy(
          [{ name: 'Repair', amount: 5000 }],
          { onPaid: { rule: 'order', recordId } },
          identity,
        ),
      ).toMatchObject({ status: 200 });
  });

  it('is the only one in a project that says so', async () => {
    const project = { ...testProject, settings: { payments: 'products-only' } };
    for (const identity of [anonymous({ project }), asKey({ project })]) {
      const answer = await bed.checkout(order, { identity });
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
      expect(answer.body.error).toBe(
        '"items.0.amount": this project takes payments for its products only.',
      );
      expect(answer.body.hint).toContain('"product"');
    }
    expect(await buy([{ product: 'mug' }], {}, anonymous({ project }))).toMatchObject({
      status: 200,
    });
  });
});
