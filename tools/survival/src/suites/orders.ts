import { randomUUID } from 'node:crypto';
import { until } from '@backlot/testing';
import type { Answer } from '@backlot/testing/platform-api';
import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { later } from '../ai-calls.ts';
import { randomFrom } from '../random.ts';
import { isWhole, type Shop, type StackUnderTest } from '../stack-under-test.ts';

const victims = ['payments', 'records', 'rabbitmq', 'postgres'] as const;
/** A round takes five seconds: a fourth of the others' rounds. */
const rounds = Math.max(
  victims.length,
  Math.floor(Number(process.env.BACKLOT_SURVIVAL_ROUNDS ?? 0) / 4),
);
const seed = Number(process.env.BACKLOT_SURVIVAL_SEED ?? Date.now() % 1_000_000);
const ordersARound = 6;
/** Payments for each order, of which one may count. */
const paymentsAnOrder = 2;
/** Less than what is paid for. */
const stock = rounds * ordersARound;
const windowMs = 1500;
const longestDownMs = 500;
const patienceMs = 60_000;

interface Order {
  id: string;
  status?: string;
  payment?: { id: string };
}

interface Payment {
  id: string;
  status: string;
  refundReason: string | null;
  onPaid: { recordId: string; outcome: string };
}

export const describeOrders = (getStack: () => StackUnderTest) =>
  describe(`paid orders after ${rounds} crashes (seed ${seed})`, () => {
    const random = randomFrom(seed);
    let stack: StackUnderTest;
    let shop: Shop;
    beforeAll(async () => {
      stack = getStack();
      shop = await stack.newShop(10);
      const control = (path: string, body: object) =>
        stack.control('PUT', `/projects/${shop.id}${path}`, { token: shop.owner.token, body });
      const access = { read: [], create: ['anyone'], change: [] };
      const product = { name: 'Mug', amount: 1999, stock };
      for (const { status } of [
        await control('/collections/orders', { access }),
        await control('/on-paid/order', {
          collection: 'orders',
          set: { status: 'paid' },
          pays: 'items',
        }),
        await call('PUT', '/products/mug', product),
      ])
        expect(status).toBe(200);
    }, 300_000);

    const call = (method: string, path: string, body?: object, headers = {}) =>
      stack.runtime(0, shop.id)(method, path, {
        token: shop.key,
        headers,
        ...(body && { body }),
      });

    /** As a client that tries again where nobody could answer. */
    const persist = async (work: () => Promise<Answer>): Promise<Answer> => {
      const givesUpAt = performance.now() + patienceMs;
      for (;;) {
        const answer = await work().catch(() => undefined);
        const isOver =
          answer && answer.status < 500 && answer.body.code !== 'idempotency_in_progress';
        if (isOver) return answer;
        if (performance.now() > givesUpAt)
          throw new Error(`no answer: ${answer?.status} ${JSON.stringify(answer?.body)}`);
        await later(50 + random() * 100, async () => {});
      }
    };
    const post = (path: string, body: object) => {
      const headers = { 'idempotency-key': randomUUID() };
      return persist(() => call('POST', path, body, headers));
    };
    const press = (url: string) =>
      persist(async () => {
        const { status, headers } = await fetch(stack.gateways[0] + new URL(url).pathname, {
          method: 'POST',
          redirect: 'manual',
          body: 'action=pay',
          headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'null' },
        });
        return { status, headers, body: {} };
      });

    const buy = async () => {
      const items = [{ product: 'mug', quantity: 1 }];
      const order = await post('/db/orders', { data: { items } });
      expect(order.status).toBe(201);
      const pay = async () => {
        const checkout = await post('/payments/checkout', {
          items,
          returnUrl: 'http://localhost:3000/thanks',
          onPaid: { rule: 'order', recordId: order.body.id },
        });
        // The last buyers find none left.
        if (checkout.status === 409) return;
        expect(checkout.status).toBe(200);
        const verify = () => call('GET', `/payments/verify?session_id=${checkout.body.sessionId}`);
        await Promise.all([press(checkout.body.url), press(checkout.body.url), persist(verify)]);
      };
      await Promise.all(Array.from({ length: paymentsAnOrder }, pay));
    };

    /** Keys of calls that a crash has ended are free after two minutes, as if these had passed. */
    const ageClaims = async (before: Date) => {
      const database = new pg.Client(stack.databaseUrl);
      await database.connect();
      await database.query(
        `UPDATE payments.idempotency SET created_at = created_at - interval '2 minutes'
       WHERE sealed_answer IS NULL AND created_at < $1`,
        [before],
      );
      await database.end();
    };

    const round = async (name: (typeof victims)[number]) => {
      const bought = Array.from({ length: ordersARound }, () => later(random() * windowMs, buy));
      await later(random() * windowMs, stack.victims[name].kill);
      const killedAt = new Date();
      await later(random() * longestDownMs, stack.victims[name].restart);
      await ageClaims(killedAt);
      const isBack = () => isWhole(stack.gateways[0]);
      await until(isBack, { what: `recovery from the loss of ${name}` });
      await Promise.all(bought);
    };

    const readPayments = async (): Promise<Payment[]> =>
      (await call('GET', '/payments?limit=1000')).body.items;

    it(
      'are paid once each, take what there was in stock, and no payment is forgotten',
      async () => {
        for (let done = 0; done < rounds; done++)
          await round(victims[done % victims.length] ?? 'records');

        const payments = await until(
          async () => {
            const all = await readPayments();
            const isSettled = ({ status, onPaid }: Payment) =>
              status === 'refunded' || (status === 'paid' && onPaid.outcome !== 'pending');
            return all.every(isSettled) && all;
          },
          { what: 'an end of all payments' },
        );
        const orders: Order[] = (await call('GET', '/db/orders?limit=1000')).body.items;
        expect(orders).toHaveLength(rounds * ordersARound);

        const paid = payments.filter(({ status }) => status === 'paid');
        expect(paid.length).toBeGreaterThan(orders.length / 2);
        const { body: product } = await call('GET', '/products/mug');
        expect(product.stock).toBe(stock - paid.length);
        const refunded = payments.filter(({ status }) => status === 'refunded');
        expect(
          new Set([...refunded.map(({ refundReason }) => refundReason), 'out_of_stock']),
        ).toEqual(new Set(['out_of_stock']));

        for (const { id, status, payment } of orders) {
          const own = paid.filter(({ onPaid }) => onPaid.recordId === id);
          const outcomes = own.map(({ onPaid }) => onPaid.outcome).sort();
          const others = Array(Math.max(0, own.length - 1)).fill('already_paid');
          expect(outcomes).toEqual(own.length > 0 ? [...others, 'done'] : []);
          expect(status).toBe(own.length > 0 ? 'paid' : undefined);
          const first = own.find(({ onPaid }) => onPaid.outcome === 'done');
          expect(payment?.id).toBe(first?.id);
        }
      },
      90_000 + rounds * 15_000,
    );
  });
