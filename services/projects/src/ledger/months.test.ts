import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { creditHistory, deliver, grant, kindsAndAmounts, usageEvent } from '../testing/ledger.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';
import { monthEnd, toMonth } from './account/month.ts';

describe('credits of a month', () => {
  let bed: TestBed;
  let ownerId: string;
  beforeAll(async () => {
    bed = await createTestBed({ monthlyCredits: 1000 });
    await bed.service.start();
  });
  afterAll(async () => {
    await bed.service.stop();
    await bed.close();
  });
  beforeEach(() => {
    ownerId = randomUUID();
  });

  const toEndOfMonth = (beforeMs = 0) =>
    bed.pass(monthEnd(toMonth(bed.now())) - bed.now() - beforeMs);
  const load = () => bed.service.loadOwner(ownerId);

  it('are granted once, by whichever of many calls comes first', async () => {
    const answers = await Promise.all([
      ...Array.from({ length: 16 }, load),
      ...Array.from({ length: 16 }, () => creditHistory(bed, ownerId)),
    ]);
    for (const answer of answers)
      expect('balance' in answer ? answer.balance : answer.balanceMillicredits).toBe(1_000_000);
    expect((await creditHistory(bed, ownerId)).items).toHaveLength(1);
  });

  it('expire with the month (UTC), to the millisecond, and are granted anew', async () => {
    toEndOfMonth(1);
    await load();
    await deliver(bed, usageEvent(bed, ownerId, { millicredits: 300_000 }));
    expect(await load()).toMatchObject({ balanceMillicredits: 700_000 });
    bed.pass(1);
    expect(await load()).toMatchObject({ balanceMillicredits: 1_000_000 });
    expect(kindsAndAmounts((await creditHistory(bed, ownerId)).items)).toEqual([
      ['grant', 1_000_000],
      ['debit', -300_000],
      ['expiry', -700_000],
      ['grant', 1_000_000],
    ]);
  });

  it('are not granted for months in which nobody came', async () => {
    await load();
    for (let month = 0; month < 3; month++) {
      toEndOfMonth();
      await bed.service.maintain();
    }
    expect(kindsAndAmounts((await creditHistory(bed, ownerId)).items)).toEqual([
      ['grant', 1_000_000],
      ['expiry', -1_000_000],
      ['grant', 1_000_000],
    ]);
  });

  it('come by themselves for who was active the month before, so that the counters know them', async () => {
    await load();
    await deliver(bed, usageEvent(bed, ownerId, { millicredits: 1_000_000 }));
    toEndOfMonth();
    await bed.service.maintain();
    const request = {
      ownerId,
      callId: randomUUID(),
      wantMillicredits: 1000,
      minMillicredits: 1000,
    };
    expect((await bed.counters.admit([], request)).reservation).toMatchObject({ kind: 'reserved' });
  });

  it('pay what was done in their month, though it is booked in the next', async () => {
    toEndOfMonth(60_000);
    await load();
    const late = usageEvent(bed, ownerId, { millicredits: 400_000 });
    bed.pass(120_000);
    await deliver(bed, late);
    expect((await creditHistory(bed, ownerId)).balance).toBe(1_000_000);
    expect((await bed.service.reconcile()).differences).toEqual([]);
  });

  it('are spent before credits that last longer', async () => {
    await grant(bed, ownerId, 50);
    await deliver(bed, usageEvent(bed, ownerId, { millicredits: 1_010_000 }));
    toEndOfMonth();
    await bed.service.maintain();
    expect((await creditHistory(bed, ownerId)).balance).toBe(1_040_000);
  });
});
