import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest, usualModes } from './platform-under-test.ts';

describe.each(usualModes)('an order that is paid for, through the gateway (%s)', (mode) => {
  let platform: PlatformUnderTest;
  beforeAll(async () => {
    platform = await platformUnderTest(mode);
  });
  afterAll(() => platform.stop());

  it('is marked by its payment, and by no hostile browser', async () => {
    const { id, owner, api } = await platform.newProject();
    const { token } = owner;
    const control = (method: string, path: string, body: object) =>
      platform.control(method, `/projects/${id}${path}`, { token, body });
    for (const answer of [
      await control('PATCH', '', { settings: { payments: 'products-only' } }),
      await control('PUT', '/collections/orders', {
        access: {
          read: ['owner'],
          create: ['users'],
          change: ['owner'],
          fields: {
            status: { change: [] },
            payment: { change: [] },
            items: { create: ['users'], change: [] },
          },
        },
      }),
      await control('PUT', '/on-paid/order', {
        collection: 'orders',
        set: { status: 'paid' },
        pays: 'items',
      }),
      await api('PUT', '/products/mug', { token, body: { name: 'Mug', amount: 1999, stock: 5 } }),
    ])
      expect([answer.status, answer.body]).toEqual([200, expect.anything()]);

    const buyer = await platform.signUp(id);
    const asBuyer = { token: buyer.token };
    const hostile = { body: { name: 'Mug', amount: 1 } };
    expect(await api('PUT', '/products/mug', { ...asBuyer, ...hostile })).toMatchObject({
      status: 403,
    });
    const order = await api('POST', '/db/orders', {
      ...asBuyer,
      body: { data: { items: [{ product: 'mug', quantity: 2 }] } },
    });
    expect(order.status).toBe(201);
    const path = `/db/orders/${order.body.id}`;
    const mark = { ...asBuyer, body: { data: { status: 'paid' } } };
    expect(await api('PATCH', path, mark)).toMatchObject({ status: 403 });

    const checkout = (items: object[]) =>
      api('POST', '/payments/checkout', {
        ...asBuyer,
        body: {
          items,
          returnUrl: 'http://localhost:3000/thanks',
          onPaid: { rule: 'order', recordId: order.body.id },
        },
      });
    expect(await checkout([{ name: 'Mug', amount: 1, quantity: 2 }])).toMatchObject({
      status: 400,
      body: { code: 'invalid_body' },
    });
    const pay = async (quantity: number) => {
      const { body } = await checkout([{ product: 'mug', quantity }]);
      await fetch(platform.url + new URL(body.url).pathname, {
        method: 'POST',
        redirect: 'manual',
        body: 'action=pay',
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'null' },
      });
      return until(async () => {
        const path = `/payments/verify?session_id=${body.sessionId}`;
        expect(Object.keys((await api('GET', path)).body)).toEqual(['paid']);
        const { payment } = (await api('GET', path, asBuyer)).body;
        return payment.onPaid.outcome !== 'pending' && payment;
      });
    };
    expect((await pay(1)).onPaid.outcome).toBe('items_differ');
    expect((await api('GET', path, asBuyer)).body).not.toHaveProperty('status');
    const payment = await pay(2);
    expect(payment).toMatchObject({ amount: 3998, onPaid: { outcome: 'done' } });
    expect((await api('GET', path, asBuyer)).body).toMatchObject({
      status: 'paid',
      payment: { id: payment.id, amount: 3998, items: [{ product: 'mug', quantity: 2 }] },
    });
    expect((await api('GET', '/payments', asBuyer)).body.items).toHaveLength(2);
    expect((await api('GET', '/products/mug')).body.stock).toBe(2);
  });
});
