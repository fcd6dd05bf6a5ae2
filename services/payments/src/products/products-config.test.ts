import type { ConfigAsking, ConfigSectionName } from '@backlot/contract';
import { asOwner, testProject } from '@backlot/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());

const { id, number, ownerId } = testProject;
const change = (section: ConfigSectionName, entries: Record<string, unknown>) =>
  Object.entries(entries).map(([name, to]) => ({ section, name, to }));
const apply = (changes: ConfigAsking['changes'], isTrial = false) =>
  bed.service.directories.paymentsConfig.applyConfig({
    project: { id, number, ownerId, allowedOrigins: [] },
    changes,
    isTrial,
  });
const read = () => bed.service.directories.paymentsConfig.readConfig(number);
const mug = { name: 'Mug', amount: 1200, currency: 'usd', active: true };
const product = async (name: string) =>
  (await bed.call('GET', `/products/${name}`, { identity: asOwner() })).body;

it('applies products and rules, leaves stock as it is, and takes away what goes', async () => {
  const stocked = { identity: asOwner(), body: { ...mug, stock: 3 } };
  expect(await bed.call('PUT', '/products/mug', stocked)).toMatchObject({ status: 200 });
  const rule = { collection: 'orders', set: { status: 'paid' }, pays: { product: 'mug' } };
  await apply([
    ...change('products', { mug: { ...mug, amount: 1500 }, cup: mug }),
    ...change('onPaid', { order: rule }),
  ]);
  expect(await product('mug')).toMatchObject({ amount: 1500, stock: 3 });
  expect(await product('cup')).toMatchObject({ amount: 1200, stock: null });
  expect(await read()).toEqual({
    products: { mug: { ...mug, amount: 1500 }, cup: mug },
    onPaid: { order: rule },
  });
  await apply([...change('products', { cup: null }), ...change('onPaid', { order: null })]);
  expect(await read()).toEqual({ products: { mug: { ...mug, amount: 1500 } }, onPaid: {} });
});

it('applies all or nothing, and nothing on trial', async () => {
  const before = await read();
  await apply(change('products', { mug: null, plate: mug }), true);
  expect(await read()).toEqual(before);
  const refused = await apply(
    change('products', { plate: mug, yen: { ...mug, currency: 'xxx' }, mug: null }),
  );
  expect(refused.refused).toMatchObject({ code: 'invalid_body' });
  expect(refused.refused?.message).toContain('"products.yen.currency"');
  expect(await read()).toEqual(before);
});

it('applies as many products as a project may have, and no more', async () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, mug]));
  const before = Object.keys((await read()).products ?? {}).length;
  expect(await apply(change('products', many(5001 - before)))).toMatchObject({
    refused: { code: 'product_limit' },
  });
  expect(await apply(change('products', many(5000 - before)))).toEqual({ left: [] });
  expect(Object.keys((await read()).products ?? {})).toHaveLength(5000);
});
