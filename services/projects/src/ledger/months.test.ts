import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../test-bed.ts';
import { monthEnd, monthOf } from './month.ts';
import { deliver, grant, kindsAndAmounts, statementOf, usageOf } from './test-ledger.ts';

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
    bed.pass(monthEnd(monthOf(bed.now())) - bed.now() - beforeMs);
  const load = () => bed.service.credits.loadOwner(ownerId);

  it('are granted once, by whichever of many calls comes first', async () => {
    const answers = await Promise.all([
      ...Array.from({ length: 16 }, load),
      ...Array.from({ length: 16 }, () => statementOf(bed, ownerId)),
    ]);
    for (const answer of answers)
      expect('balance' in answer ? answer.balance : answer.balanceMillicredits).toBe(1_000_000);
    expect((await statementOf(bed, ownerId)).items).toHaveLength(1);
  });

  it('expire with the month (UTC), to the millisecond, and are granted anew', async () => {
    toEndOfMonth(1);
    await load();
    await deliver(bed, usageOf(bed, ownerId, { millicredits: 300_000 }));
    expect(await load()).toMatchObject({ balanceMillicredits: 700_000 });
    bed.pass(1);
    expect(await load()).toMatchObject({ balanceMillicredits: 1_000_000 });
    expect(kindsAndAmounts((await statementOf(bed, ownerId)).items)).toEqual([
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
      await bed.service.keepUp();
    }
    expect(kindsAndAmounts((await statementOf(bed, ownerId)).items)).toEqual([
      ['grant', 1_000_000],
      ['expiry', -1_000_000],
      ['grant', 1_000_000],
    ]);
  });

  it('come by themselves for who was active the month before, so that the counters know them', async () => {
    await load();
    await deliver(bed, usageOf(bed, ownerId, { millicredits: 1_000_000 }));
    toEndOfMonth();
    await bed.service.keepUp();
    const request = {
      ownerId,
      callId: randomUUID(),
      wantMillicredits: 1000,
      minMillicredits: 1000,
    };
    expect((await bed.counters.admit([], request)).reservation).toMatchObject({ kind: 'reserved' });
  });

  it('pay what was done in their month, though it is told of in the next', async () => {
    toEndOfMonth(60_000);
    await load();
    const late = usageOf(bed, ownerId, { millicredits: 400_000 });
    bed.pass(120_000);
    await deliver(bed, late);
    expect((await statementOf(bed, ownerId)).balance).toBe(1_000_000);
    expect((await bed.service.reconcile()).differences).toEqual([]);
  });

  it('are spent before credits that last longer', async () => {
    await grant(bed, ownerId, 50);
    await deliver(bed, usageOf(bed, ownerId, { millicredits: 1_010_000 }));
    toEndOfMonth();
    await bed.service.keepUp();
    expect((await statementOf(bed, ownerId)).balance).toBe(1_040_000);
  });
});
