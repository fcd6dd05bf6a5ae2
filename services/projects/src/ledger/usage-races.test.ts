import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTestBed, type TestBed } from '../test-bed.ts';
import { consumers, grant, statementOf, sumOf, type UsageEvent, usageOf } from './test-ledger.ts';

/** Eight at once, so that their transactions meet in PostgreSQL. */
const processes = 8;

describe('usage booked by several processes at once', () => {
  let bed: TestBed;
  let ownerId: string;
  let consume: ReturnType<typeof consumers>;
  beforeAll(async () => {
    bed = await createTestBed();
    consume = consumers(bed, processes);
  });
  afterAll(() => bed.close());
  beforeEach(() => {
    ownerId = randomUUID();
  });

  const deliverTo = (n: number, usage: UsageEvent) => consume[n % processes]?.(usage);
  const booksAgree = async () => expect((await bed.service.reconcile()).differences).toEqual([]);

  it('has one line for a call that comes 64 times at once', async () => {
    await grant(bed, ownerId, 100);
    const usage = usageOf(bed, ownerId, { millicredits: 1500 });
    await Promise.all(Array.from({ length: 64 }, (_, n) => deliverTo(n, usage)));
    const { balance, items } = await statementOf(bed, ownerId);
    expect(balance).toBe(98_500);
    expect(items.slice(1)).toMatchObject([
      { kind: 'debit', amountMillicredits: -1500, requestId: usage.callId, route: 'generateText' },
    ]);
    await booksAgree();
  });

  it('has one line where the first call of an owner comes 64 times at once', async () => {
    const usage = usageOf(bed, ownerId);
    await Promise.all(Array.from({ length: 64 }, (_, n) => deliverTo(n, usage)));
    const { items } = await statementOf(bed, ownerId);
    expect(items).toMatchObject([{ kind: 'correction' }, { kind: 'debit' }]);
  });

  it('has a line for each of 64 calls, never goes below zero, and has the platform pay the rest', async () => {
    await grant(bed, ownerId, 10);
    const usages = Array.from({ length: 64 }, () => usageOf(bed, ownerId));
    await Promise.all(usages.map((usage, n) => deliverTo(n, usage)));
    const { balance, items } = await statementOf(bed, ownerId);
    expect(balance).toBe(0);
    const debits = items.filter((item) => item.kind === 'debit');
    expect(debits.map((item) => item.requestId).sort()).toEqual(
      usages.map((usage) => usage.callId).sort(),
    );
    const corrections = items.filter((item) => item.kind === 'correction');
    expect(sumOf(corrections)).toBe(54_000);
    let running = 0;
    for (const item of items) {
      running += item.amountMillicredits;
      expect(running).toBeGreaterThanOrEqual(0);
    }
    expect(running).toBe(0);
    await booksAgree();
  });

  it('comes to the same ledger whatever is delivered twice, late, out of order and at once', async () => {
    const call = fc.record({
      owner: fc.nat({ max: 2 }),
      millicredits: fc.integer({ min: 0, max: 4000 }),
      deliveries: fc.array(fc.record({ process: fc.nat({ max: processes - 1 }), turn: fc.nat() }), {
        minLength: 1,
        maxLength: 4,
      }),
    });
    const history = fc.record({
      grants: fc.array(fc.nat({ max: 20 }), { minLength: 3, maxLength: 3 }),
      calls: fc.array(call, { maxLength: 30 }),
    });
    await fc.assert(
      fc.asyncProperty(history, async ({ grants, calls }) => {
        const owners = grants.map(() => randomUUID());
        for (const [n, credits] of grants.entries())
          if (credits > 0) await grant(bed, owners[n] ?? '', credits);
        const usages = calls.map(({ owner, millicredits }) =>
          usageOf(bed, owners[owner] ?? '', { millicredits }),
        );
        const deliveries = calls.flatMap((each, n) =>
          each.deliveries.map((delivery) => ({ ...delivery, usage: usages[n] })),
        );
        await Promise.all(
          deliveries
            .toSorted((a, b) => a.turn - b.turn)
            .map(({ process, usage }) => usage && deliverTo(process, usage)),
        );
        for (const [n, owner] of owners.entries()) {
          const priced = usages.filter((each) => each.ownerId === owner && each.millicredits > 0);
          const used = priced.reduce((sum, each) => sum + each.millicredits, 0);
          const granted = (grants[n] ?? 0) * 1000;
          const { balance, items } = await statementOf(bed, owner);
          expect(balance).toBe(Math.max(0, granted - used));
          expect(sumOf(items)).toBe(balance);
          const debits = items.filter((item) => item.kind === 'debit');
          expect(new Map(debits.map((item) => [item.requestId, -item.amountMillicredits]))).toEqual(
            new Map(priced.map((each) => [each.callId, each.millicredits])),
          );
          expect(debits).toHaveLength(priced.length);
          const paid = sumOf(items.filter((item) => item.kind === 'correction'));
          expect(paid).toBe(Math.max(0, used - granted));
        }
      }),
      { numRuns: 25 },
    );
    await booksAgree();
  });
});
