import { randomUUID } from 'node:crypto';
import { events, type Payload } from '@backlot/contract';
import { asKey, asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, createTestBed, type TestBed } from '../testing/test-bed.ts';

type Paid = Payload<'record.paid'>;

describe('a record that was paid for', () => {
  let bed: TestBed;
  /** As the payments service hears them. */
  const outcomes: Payload<'record.settled'>[] = [];
  beforeAll(async () => {
    bed = await createTestBed();
    await bed.bus.subscribe({
      queue: 'payments.record-settled',
      topics: ['record.settled'],
      handler: async ({ payload }) => {
        outcomes.push(events['record.settled'].parse(payload));
      },
    });
  });
  afterAll(() => bed.close());

  const items = [{ name: 'Mug', amount: 1999, quantity: 1, product: 'mug' }];
  const paidFor = (recordId: string, changes: Partial<Paid> = {}): Paid => ({
    projectId: testProject.id,
    projectNumber: testProject.number,
    collection: 'orders',
    recordId,
    set: { status: 'paid' },
    payment: {
      id: randomUUID(),
      sessionId: `cs_test_${recordId}`,
      amount: 1999,
      currency: 'usd',
      items,
      livemode: false,
      paidAt: '2026-01-01T00:00:00.000Z',
    },
    ...changes,
  });
  const tell = (paid: Paid) =>
    bed.bus.publish({ id: randomUUID(), topic: 'record.paid', payload: paid });
  const outcomesOf = (paid: Paid) =>
    outcomes.filter(({ paymentId }) => paymentId === paid.payment.id).map(({ outcome }) => outcome);
  const settled = async (paid: Paid) => {
    const before = outcomesOf(paid).length;
    await tell(paid);
    return until(() => outcomesOf(paid).slice(before).at(-1));
  };
  const read = async (id: string) =>
    (await bed.call('GET', `/db/orders/${id}`, { identity: asKey() })).body;
  const create = (data: object = {}) =>
    bed.create('orders', { status: 'new', items: [{ product: 'mug' }], ...data }, asUser(ada));

  it('takes them where they make it larger than the collection allows its callers', async () => {
    const order = await create();
    const path = `/platform/projects/${testProject.id}/collections/orders`;
    const setLimit = (maxBytes: number | null) =>
      bed.call('PUT', path, { identity: asOwner(), body: { limits: { maxBytes } } });
    await setLimit(100);
    const paid = paidFor(order.id);
    expect(await settled(paid)).toBe('done');
    expect((await read(order.id)).payment).toEqual(paid.payment);
    await setLimit(null);
  });

  it('takes what the rule sets, and the payment', async () => {
    const order = await create({ items: [{ product: 'mug' }], note: 'blue' });
    const paid = paidFor(order.id);
    expect(await settled(paid)).toBe('done');
    const { updatedAt, ...record } = await read(order.id);
    expect(record).toMatchObject({
      id: order.id,
      ownerId: ada,
      status: 'paid',
      note: 'blue',
      payment: paid.payment,
    });
    expect(updatedAt > String(order.updatedAt)).toBe(true);
  });

  it('takes it once, however often it is told and whatever was changed since', async () => {
    const order = await create();
    const paid = paidFor(order.id);
    await Promise.all(Array.from({ length: 10 }, () => tell(paid)));
    await until(() => outcomesOf(paid).length === 10);
    await bed.call('PATCH', `/db/orders/${order.id}`, {
      identity: asKey(),
      body: { data: { status: 'shipped' }, unset: ['payment'] },
    });
    expect(await settled(paid)).toBe('done');
    expect(await read(order.id)).toMatchObject({ status: 'shipped' });
    expect(await read(order.id)).not.toHaveProperty('payment');
    expect(new Set(outcomesOf(paid))).toEqual(new Set(['done']));
  });

  it('takes one of ten payments at the same instant', async () => {
    const order = await create();
    const payments = Array.from({ length: 10 }, () => paidFor(order.id));
    await Promise.all(payments.map(tell));
    const all = await until(async () => {
      const found = payments.flatMap(outcomesOf);
      return found.length >= 10 && found;
    });
    expect(all.sort()).toEqual([...Array(9).fill('already_paid'), 'done']);
    const done = payments.find((paid) => outcomesOf(paid)[0] === 'done');
    expect((await read(order.id)).payment).toEqual(done?.payment);
  });

  it('stays as it is where it would not fit its schema, in which the payment need not stand', async () => {
    const status = { enum: ['new', 'paid'] };
    const properties = { status, items: { type: 'array' } };
    const setSchema = async (schema: object | null) => {
      const path = `/platform/projects/${testProject.id}/collections/orders`;
      const answer = await bed.call('PUT', path, { identity: asOwner(), body: { schema } });
      expect(answer.status).toBe(200);
    };
    await setSchema({ properties, additionalProperties: false });
    const order = await create();
    expect(await settled(paidFor(order.id, { set: { status: 'sent' } }))).toBe('schema_mismatch');
    expect(await read(order.id)).toMatchObject({ status: 'new', updatedAt: order.updatedAt });
    expect(await settled(paidFor(order.id))).toBe('done');
    await setSchema(null);
  });

  it('stays as it is where its items are not those that were paid', async () => {
    const order = await create({ items: [{ product: 'car' }] });
    expect(await settled(paidFor(order.id))).toBe('items_differ');
    expect(await read(order.id)).toMatchObject({ status: 'new', updatedAt: order.updatedAt });
    const right = paidFor(order.id);
    right.payment.items = [{ name: 'Car', amount: 1999, quantity: 1, product: 'car' }];
    expect(await settled(right)).toBe('done');
  });

  it('stays as it is where it has no items, unless a product or an amount pays for it', async () => {
    for (const items of [null, undefined, []]) {
      const order = await create({ items });
      for (const pays of [
        undefined,
        'items',
        { product: 'car' },
        { amount: 2000, currency: 'usd' },
      ] as const)
        expect(await settled(paidFor(order.id, pays && { pays }))).toBe('items_differ');
      expect(await read(order.id)).toMatchObject({ status: 'new' });
      expect(await settled(paidFor(order.id, { pays: { product: 'mug' } }))).toBe('done');
    }
    const gift = await create({ items: null });
    const pays = { amount: 1999, currency: 'usd' };
    expect(await settled(paidFor(gift.id, { pays }))).toBe('done');
  });

  it('is none of another project, collection or id', async () => {
    const order = await create();
    for (const changes of [
      { projectNumber: 1002 },
      { collection: 'drafts' },
      { recordId: randomUUID() },
    ])
      expect(await settled(paidFor(order.id, changes))).toBe('not_found');
    expect(await read(order.id)).toMatchObject({ status: 'new' });
  });

  it('says where it would be too large, and goes on with the next payment once it is smaller', async () => {
    const order = await create({ text: 'x'.repeat(1024 * 1024 - 100) });
    const paid = paidFor(order.id);
    expect(await settled(paid)).toBe('too_large');
    await bed.call('PATCH', `/db/orders/${order.id}`, {
      identity: asKey(),
      body: { unset: ['text'] },
    });
    expect(await settled(paid)).toBe('done');
  });

  it('says where another record has a value that it would have to have alone', async () => {
    await bed.call('PUT', `/platform/projects/${testProject.id}/collections/orders`, {
      identity: asOwner(),
      body: { unique: ['payment.sessionId'] },
    });
    const [first, second] = [await create(), await create()];
    const paid = paidFor(first.id);
    expect(await settled(paid)).toBe('done');
    const same = paidFor(second.id);
    same.payment.sessionId = paid.payment.sessionId;
    expect(await settled(same)).toBe('not_unique');
    expect(await read(second.id)).toMatchObject({ status: 'new' });
    await bed.call('PUT', `/platform/projects/${testProject.id}/collections/orders`, {
      identity: asOwner(),
      body: { unique: [] },
    });
    await until(async () => (await bed.database.query('SELECT FROM unique_fields')).length === 0);
  });

  it('counts what it has grown by', async () => {
    const order = await create();
    await settled(paidFor(order.id));
    const path = `/platform/projects/${testProject.id}/collections`;
    const { body } = await bed.call('GET', path, { identity: asOwner() });
    const [stored] = await bed.database.query('SELECT sum(size_bytes)::int8 AS bytes FROM records');
    expect(stored).toEqual({ bytes: body.items[0].sizeBytes });
  });

  it('takes both or nothing where the process dies in between', async () => {
    const order = await create();
    const paid = paidFor(order.id);
    for (const table of ['paid_records', 'records', 'outbox']) {
      await bed.ownerDatabase.query(
        `ALTER TABLE ${table} ADD CONSTRAINT crash CHECK (false) NOT VALID`,
      );
      await tell(paid);
      expect(await read(order.id)).toMatchObject({ status: 'new' });
      await bed.ownerDatabase.query(`ALTER TABLE ${table} DROP CONSTRAINT crash`);
    }
    expect(outcomesOf(paid)).toEqual([]);
    expect(await settled(paid)).toBe('done');
  });
});
