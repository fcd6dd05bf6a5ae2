import { productRoutes } from '@backlot/contract';
import { anonymous, asKey, asOperator, asOwner, asUser, refusesStrangers } from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, type TestBed } from '../testing/test-bed.ts';

const customer = asUser('018f0000-0000-7000-8000-00000000dddd');
const staff = asUser('018f0000-0000-7000-8000-00000000eeee', { role: 'staff' });
const mug = { name: 'Mug', amount: 1999, currency: 'EUR', stock: 3, active: true };

describe('products', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ productEditors: ['role:staff'] });
  });
  afterAll(() => bed.close());
  afterEach(() => bed.database.query('DELETE FROM products'));

  const put = (id: string, body: unknown = mug, identity = asKey()) =>
    bed.call('PUT', `/products/${id}`, { identity, body });
  const get = (id: string, identity = anonymous()) =>
    bed.call('GET', `/products/${id}`, { identity });
  const list = (query = '', identity = anonymous()) =>
    bed.call('GET', `/products${query}`, { identity });
  const remove = (id: string, identity = asKey()) =>
    bed.call('DELETE', `/products/${id}`, { identity });

  for (const [definition, path, body] of [
    [productRoutes.listProducts, '/products', undefined],
    [productRoutes.getProduct, '/products/mug', undefined],
    [productRoutes.setProduct, '/products/mug', mug],
    [productRoutes.deleteProduct, '/products/mug', undefined],
  ] as const)
    refusesStrangers(
      definition,
      () => bed.http,
      () => ({ path, body }),
    );

  it('are set by owner, key, operator and the role that the project names, and read by everybody', async () => {
    for (const identity of [asOwner(), asKey(), asOperator(), staff])
      expect(await put('mug', mug, identity)).toMatchObject({ status: 200 });
    for (const identity of [anonymous(), customer])
      expect(await get('mug', identity)).toMatchObject({
        status: 200,
        body: {
          id: 'mug',
          name: 'Mug',
          amount: 1999,
          currency: 'eur',
          stock: 3,
          active: true,
          createdAt: expect.any(String),
          updatedAt: expect.any(String),
        },
      });
  });

  it('are changed by no other user, whatever their role', async () => {
    await put('mug');
    for (const role of ['user', 'admin', 'Staff', undefined]) {
      const identity = asUser('018f0000-0000-7000-8000-00000000dddd', role ? { role } : {});
      for (const answer of [
        await put('mug', { ...mug, amount: 1 }, identity),
        await put('cup', mug, identity),
        await remove('mug', identity),
      ])
        expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    expect(await put('mug', mug, anonymous({ role: 'staff' }))).toMatchObject({ status: 401 });
    expect((await list('', asKey())).body.items).toMatchObject([{ id: 'mug', amount: 1999 }]);
    expect(await remove('mug', staff)).toMatchObject({ status: 200 });
  });

  it('are changed by no role that the project does not name, staff and admin included', async () => {
    const unnamed = await createTestBed({ productEditors: ['role:clerk'] });
    try {
      const clerk = asUser('018f0000-0000-7000-8000-00000000eeee', { role: 'clerk' });
      const sell = (identity = staff) =>
        unnamed.call('PUT', '/products/mug', { identity, body: { ...mug, active: false } });
      const refused = await sell();
      expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      expect(refused.body.hint).toContain('productEditors');
      expect(await sell(clerk)).toMatchObject({ status: 200 });
      const seen = async (identity = staff) =>
        (await unnamed.call('GET', '/products', { identity })).body.items;
      expect(await seen()).toEqual([]);
      expect(await seen(clerk)).toHaveLength(1);
    } finally {
      await unnamed.close();
    }
  });

  it('of another project are not there', async () => {
    await put('mug');
    const elsewhere = { project: otherProject };
    expect(await get('mug', anonymous(elsewhere))).toMatchObject({ status: 404 });
    expect((await list('', asKey(elsewhere))).body.items).toEqual([]);
    expect(await remove('mug', asKey(elsewhere))).toMatchObject({ status: 404 });
    expect(await put('mug', { ...mug, amount: 1 }, asKey(elsewhere))).toMatchObject({
      status: 200,
    });
    expect((await get('mug')).body.amount).toBe(1999);
  });

  it('that are not for sale are seen by those who may change them alone', async () => {
    await put('mug', { ...mug, active: false });
    await put('cup');
    const ids = async (identity = anonymous()) =>
      (await list('', identity)).body.items.map(({ id }: { id: string }) => id).sort();
    expect(await ids()).toEqual(['cup']);
    expect(await ids(customer)).toEqual(['cup']);
    expect(await ids(asKey())).toEqual(['cup', 'mug']);
    expect(await ids(staff)).toEqual(['cup', 'mug']);
    expect(await get('mug', customer)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await get('mug', asOwner())).toMatchObject({ status: 200 });
  });

  it('keep the stock that a change leaves out, and count nothing where it is null', async () => {
    const { stock: _, ...rest } = mug;
    expect((await put('post-card', rest)).body.stock).toBeNull();
    await put('mug');
    expect((await put('mug', { ...rest, amount: 2500 })).body).toMatchObject({
      amount: 2500,
      stock: 3,
    });
    expect((await put('mug', { ...mug, stock: null })).body.stock).toBeNull();
  });

  it('are listed newest first, page by page', async () => {
    for (const id of ['one', 'two', 'three']) {
      await put(id);
      bed.clock.pass(10);
    }
    const first = await list('?limit=2');
    expect(first.body).toMatchObject({ items: [{ id: 'three' }, { id: 'two' }], hasMore: true });
    const rest = await list(`?limit=2&cursor=${first.body.nextCursor}`);
    expect(rest.body).toMatchObject({ items: [{ id: 'one' }], hasMore: false, nextCursor: null });
    expect(await list('?cursor=made-up')).toMatchObject({
      status: 400,
      body: { code: 'invalid_cursor' },
    });
  });

  it('can be deleted once', async () => {
    await put('mug');
    expect(await remove('mug')).toMatchObject({ status: 200, body: { ok: true } });
    for (const id of ['mug', '%00', 'a%20b'])
      expect(await remove(id)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await get('mug')).toMatchObject({ status: 404 });
    expect(await get('%00')).toMatchObject({ status: 404 });
  });

  it.each([
    ['no name', { name: undefined }, '"name"'],
    ['a name of two lines', { name: 'a\nb' }, '"name"'],
    ['a negative amount', { amount: -1 }, '"amount"'],
    ['a fraction', { amount: 19.99 }, '"amount"'],
    ['an amount too large', { amount: 1e8 }, '"amount"'],
    ['hundredths in ISK', { amount: 150, currency: 'isk' }, '"amount"'],
    ['a currency that nobody pays in', { currency: 'XAU' }, '"currency"'],
    ['a negative stock', { stock: -1 }, '"stock"'],
    ['a stock too large', { stock: 2e9 }, '"stock"'],
    ['something that is not asked for', { price: 1 }, '"price"'],
  ])('refuse %s', async (_what, changes, named) => {
    const answer = await put('mug', { ...mug, ...changes });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain(named);
    expect(await get('mug')).toMatchObject({ status: 404 });
  });

  it('have ids that can stand in an address', async () => {
    for (const id of ['-mug', 'a.b', 'a%20b', '%00', 'x'.repeat(65)])
      expect(await put(id)).toMatchObject({ status: 400, body: { code: 'invalid_path' } });
  });

  it('are bounded, exactly, whoever writes at the same instant', async () => {
    const count = productRoutes.maxProducts - 2;
    await bed.database.query(
      `INSERT INTO products SELECT 1001, 'p' || n, 'P', 1, 'usd', NULL, true, now(), now()
         FROM generate_series(1, ${count}) n`,
    );
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((id) => put(id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 403, 403]);
    expect(answers.find(({ status }) => status === 403)?.body.code).toBe('product_limit');
    expect(await put('p1')).toMatchObject({ status: 200 });
    expect(await put('a', mug, asKey({ project: otherProject }))).toMatchObject({ status: 200 });
  });
});
