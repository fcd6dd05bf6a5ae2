import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  consumers,
  creditHistory,
  grant,
  sumItems,
  type UsageEvent,
  usageEvent,
} from '../testing/ledger.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

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
  const ledgerIsConsistent = async () =>
    expect((await bed.service.reconcile()).differences).toEqual([]);

  it('has one line for a call that comes 64 times at once', async () => {
    await grant(bed, ownerId, 100);
    const usage = usageEvent(bed, ownerId, { millicredits: 1500 });
    await Promise.all(Array.from({ length: 64 }, (_, n) => deliverTo(n, usage)));
    const { balance, items } = await creditHistory(bed, ownerId);
    expect(balance).toBe(98_500);
    expect(items.slice(1)).toMatchObject([
      { kind: 'debit', amountMillicredits: -1500, requestId: usage.callId, route: 'generateText' },
    ]);
    await ledgerIsConsistent();
  });

  it('has one line where the first call of an owner comes 64 times at once', async () => {
    const usage = usageEvent(bed, ownerId);
    await Promise.all(Array.from({ length: 64 }, (_, n) => deliverTo(n, usage)));
    const { items } = await creditHistory(bed, ownerId);
    expect(items).toMatchObject([{ kind: 'correction' }, { kind: 'debit' }]);
  });

  it('has a line for each of 64 calls, never goes below zero, and has the platform pay the rest', async () => {
    await grant(bed, ownerId, 10);
    const usages = Array.from({ length: 64 }, () => usageEvent(bed, ownerId));
    await Promise.all(usages.map((usage, n) => deliverTo(n, usage)));
    const { balance, items } = await creditHistory(bed, ownerId);
    expect(balance).toBe(0);
    const debits = items.filter((item) => item.kind === 'debit');
    expect(debits.map((item) => item.requestId).sort()).toEqual(
      usages.map((usage) => usage.callId).sort(),
    );
    const corrections = items.filter((item) => item.kind === 'correction');
    expect(sumItems(corrections)).toBe(54_000);
    let running = 0;
    for (const item of items) {
      running += item.amountMillicredits;
      expect(running).toBeGreaterThanOrEqual(0);
    }
    expect(running).toBe(0);
    await ledgerIsConsistent();
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
          usageEvent(bed, owners[owner] ?? '', { millicredits }),
        );
        const deliveries = calls.flatMap((call, n) =>
          call.deliveries.map((delivery) => ({ ...delivery, usage: usages[n] })),
        );
        await Promise.all(
          deliveries
            .toSorted((a, b) => a.turn - b.turn)
            .map(({ process, usage }) => usage && deliverTo(process, usage)),
        );
        for (const [n, owner] of owners.entries()) {
          const priced = usages.filter(
            (usage) => usage.ownerId === owner && usage.millicredits > 0,
          );
          const used = priced.reduce((sum, usage) => sum + usage.millicredits, 0);
          const granted = (grants[n] ?? 0) * 1000;
          const { balance, items } = await creditHistory(bed, owner);
          expect(balance).toBe(Math.max(0, granted - used));
          expect(sumItems(items)).toBe(balance);
          const debits = items.filter((item) => item.kind === 'debit');
          expect(new Map(debits.map((item) => [item.requestId, -item.amountMillicredits]))).toEqual(
            new Map(priced.map((usage) => [usage.callId, usage.millicredits])),
          );
          expect(debits).toHaveLength(priced.length);
          const paid = sumItems(items.filter((item) => item.kind === 'correction'));
          expect(paid).toBe(Math.max(0, used - granted));
        }
      }),
      { numRuns: 25 },
    );
    await ledgerIsConsistent();
  });
});
