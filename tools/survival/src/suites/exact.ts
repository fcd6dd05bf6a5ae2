import { randomUUID } from 'node:crypto';
import { createRabbitmqBus, type RabbitmqBus } from '@backlot/bus/rabbitmq';
import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { askPatiently, tally } from '../ai-calls.ts';
import { untilDrained } from '../broker.ts';
import { readBooks, sumAmounts } from '../ledger.ts';
import { limitReads } from '../limits.ts';
import { burst } from '../rate.ts';
import type { Shop, StackUnderTest } from '../stack-under-test.ts';

export const describeExact = (getStack: () => StackUnderTest) =>
  describe('two gateways and the services as processes', () => {
    let stack: StackUnderTest;
    let bus: RabbitmqBus;
    let database: pg.Client;
    beforeAll(async () => {
      stack = getStack();
      const quiet = { onDead: () => undefined, onError: () => undefined };
      bus = await createRabbitmqBus({
        url: stack.amqpUrl,
        mustReach: ['usage.recorded'],
        ...quiet,
      });
      await bus.ready(30_000);
      database = new pg.Client(stack.databaseUrl);
      await database.connect();
    });
    afterAll(async () => {
      await bus?.close();
      await database?.end();
    });

    it('let exactly 100 of 400 parallel calls through that 100 credits pay for', async () => {
      const shop = await stack.newShop(100);
      const outcomes = await Promise.all(
        Array.from({ length: 400 }, (_, n) =>
          askPatiently(stack.gateways[n % 2] ?? '', shop.id, 'Hello'),
        ),
      );
      expect(tally(outcomes)).toEqual({ served: 100, '402 out_of_credits': 300 });
      const books = await until(async () => {
        const read = await readBooks(stack, shop.owner);
        return read.debits.length === 100 && read.reservedMillicredits === 0 && read;
      });
      expect(books.balanceMillicredits).toBe(0);
      expect(books.lines).toHaveLength(101);
      expect(sumAmounts(books.debits)).toBe(-100_000);
      expect(new Set(books.debits.map(({ requestId }) => requestId)).size).toBe(100);
    });

    it.each([
      [6, 3000],
      [300, 3000],
    ])(
      'let exactly %i calls a minute of 64 parallel clients through',
      async (limit, durationMs) => {
        const isExact = async () => {
          const shop = await stack.newShop(1);
          await limitReads(stack, shop, limit);
          const { passed, unclear, atLeast, atMost } = await burst(
            64,
            durationMs,
            limit,
            async (client) => {
              const { status } = await stack.runtime(client, shop.id)('GET', '/db/notes', {
                token: shop.key,
              });
              expect([200, 429, 503]).toContain(status);
              return status;
            },
          );
          expect(passed + unclear).toBeGreaterThanOrEqual(atLeast);
          expect(passed).toBeLessThanOrEqual(atMost);
          return atMost - atLeast + unclear <= Math.ceil(limit / 60);
        };
        // Where a call took too long, or the first or the last one long, the numbers say too little.
        while (!(await isExact()));
      },
      240_000,
    );

    const createUsage = ({ id, owner }: Shop, n: number) => ({
      callId: randomUUID(),
      projectId: id,
      projectNumber: 1001,
      ownerId: owner.id,
      route: 'generateText',
      millicredits: 1000 + n,
      units: { tokens: 1000 + n },
      occurredAt: new Date().toISOString(),
    });

    /** Holds the owner's account, so that its bookings wait. */
    const slowedDown = async (owner: string, work: () => Promise<unknown>) => {
      await database.query('BEGIN');
      await database.query('SELECT FROM projects.accounts WHERE owner_id = $1 FOR UPDATE', [owner]);
      await work();
      await database.query('COMMIT');
    };

    it('make the same ledger of usage that comes late, twice and out of order', async () => {
      const shop = await stack.newShop(1000);
      const usages = Array.from({ length: 60 }, (_, n) => createUsage(shop, n));
      const events = usages.map((payload) => ({
        id: randomUUID(),
        topic: 'usage.recorded',
        payload,
      }));
      const again = events.map((event) => ({ ...event, id: randomUUID() }));
      const disorderly = [...events, ...again, ...events]
        .map((event) => ({ event, place: Math.random() }))
        .sort((a, b) => a.place - b.place);
      await slowedDown(shop.owner.id, async () => {
        await Promise.all(disorderly.map(({ event }) => bus.publish(event)));
        expect((await readBooks(stack, shop.owner)).debits).toEqual([]);
      });
      await untilDrained(stack);
      const { debits, lines, balanceMillicredits } = await readBooks(stack, shop.owner);
      const booked = debits.map((line) => [line.requestId, -line.amountMillicredits]);
      expect(new Map(booked as [string, number][])).toEqual(
        new Map(usages.map(({ callId, millicredits }) => [callId, millicredits])),
      );
      expect(debits).toHaveLength(usages.length);
      expect(lines).toHaveLength(usages.length + 1);
      expect(balanceMillicredits).toBe(1_000_000 + sumAmounts(debits));
    });
  });
