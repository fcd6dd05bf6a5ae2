import { onPaidRoutes } from '@backlot/contract';
import { asOwner, refusesStrangers } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, type TestBed } from '../testing/test-bed.ts';

const rule = {
  collection: 'orders',
  set: { status: 'paid', shipped: false, left: 0, note: null },
  pays: 'items',
};

describe('rules for paid records', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  afterEach(() => bed.database.query('DELETE FROM on_paid_rules'));
  const put = (name: string, body: unknown = rule, identity = asOwner()) =>
    bed.owner('PUT', `/on-paid/${name}`, body, identity);

  for (const [definition, path, body] of [
    [onPaidRoutes.setOnPaidRule, '/projects/testproject/on-paid/order', rule],
    [onPaidRoutes.listOnPaidRules, '/projects/testproject/on-paid', undefined],
    [onPaidRoutes.deleteOnPaidRule, '/projects/testproject/on-paid/order', undefined],
  ] as const)
    refusesStrangers(
      definition,
      () => bed.http,
      () => ({ path, body }),
    );

  it('are set, listed by name and deleted', async () => {
    await put('order', { ...rule, set: {} });
    expect(await put('order')).toMatchObject({ status: 200, body: { name: 'order', ...rule } });
    await put('member');
    await put('other', rule, asOwner({ project: otherProject }));
    const { body } = await bed.owner('GET', '/on-paid');
    expect(body).toMatchObject({ items: [{ name: 'member' }, { name: 'order' }], hasMore: false });
    expect(await bed.owner('DELETE', '/on-paid/order')).toMatchObject({ body: { ok: true } });
    for (const name of ['order', 'other', '%00'])
      expect(await bed.owner('DELETE', `/on-paid/${name}`)).toMatchObject({ status: 404 });
  });

  it('say what pays: items, a product or an amount', async () => {
    for (const [pays, stored] of [
      ['items', 'items'],
      [{ product: 'mug' }, { product: 'mug' }],
      [
        { amount: 500, currency: 'EUR' },
        { amount: 500, currency: 'eur' },
      ],
    ])
      expect(await put('order', { ...rule, pays })).toMatchObject({
        status: 200,
        body: { pays: stored },
      });
  });

  it('of before, which said nothing, are paid by the items of the record', async () => {
    await bed.database.query(
      `INSERT INTO on_paid_rules (project_number, name, collection, set_fields, updated_at)
       VALUES (1001, 'old', 'orders', '{}', now())`,
    );
    expect((await bed.owner('GET', '/on-paid')).body.items).toMatchObject([{ pays: 'items' }]);
  });

  it.each([
    ['no collection', { collection: undefined }, '"collection"'],
    ['nothing that pays', { pays: undefined }, '"pays"'],
    ['anything that pays', { pays: 'any' }, '"pays"'],
    ['no amount at all', { pays: { amount: 0, currency: 'usd' } }, '"pays'],
    ['a product and an amount', { pays: { product: 'mug', amount: 1 } }, '"pays'],
    ['a collection that can not be', { collection: 'a b' }, '"collection"'],
    ['a field of the record itself', { set: { ownerId: 'x' } }, '"set.ownerId"'],
    ['the field of the payment', { set: { payment: 'x' } }, '"set.payment"'],
    ['an operator', { set: { $inc: 1 } }, '"set.$inc"'],
    ['a path', { set: { 'a.b': 1 } }, '"set.a.b"'],
    ['an object', { set: { a: { b: 1 } } }, '"set.a"'],
    [
      '21 fields',
      { set: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`k${n}`, 1])) },
      '"set"',
    ],
  ])('refuse %s', async (_what, changes, named) => {
    const answer = await put('order', { ...rule, ...changes });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain(named);
  });

  it('are bounded, exactly, whoever writes at the same instant', async () => {
    const count = onPaidRoutes.maxOnPaidRules + 2;
    const answers = await Promise.all(Array.from({ length: count }, (_, n) => put(`r${n}`)));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(2);
    expect(refused[0]).toMatchObject({ status: 403, body: { code: 'rule_limit' } });
    expect(await put('not a name')).toMatchObject({ status: 400, body: { code: 'invalid_path' } });
  });
});
