import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deliver, grant, usageEvent } from '../testing/ledger.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

describe('what a project has used', () => {
  let bed: TestBed;
  const ownerId = randomUUID();
  beforeAll(async () => {
    bed = await createTestBed();
    await bed.service.start();
    await grant(bed, ownerId, 1000);
  });
  afterAll(async () => {
    await bed.service.stop();
    await bed.close();
  });

  const at = (time: string, millicredits: number, projectNumber = 4711) =>
    deliver(bed, usageEvent(bed, ownerId, { occurredAt: time, millicredits, projectNumber }));
  const left = async (period: string, limit: number) => {
    const budget = { of: 'project' as const, name: '4711', period, limit };
    const callId = randomUUID();
    const request = { ownerId, callId, budgets: [budget] };
    const { reservation } = await bed.counters.admit([], {
      ...request,
      wantMillicredits: limit,
      minMillicredits: 1,
    });
    await bed.counters.settle(ownerId, callId, 0);
    return reservation?.kind === 'reserved' ? reservation.millicredits : reservation?.kind;
  };

  it('comes with its owner’s balance: the day’s and the month’s, in UTC, of this project alone', async () => {
    await at('2026-10-31T23:59:59.999Z', 1);
    await at('2026-11-01T00:00:00.000Z', 20);
    await at('2026-11-26T23:59:59.999Z', 300);
    await at('2026-11-27T00:00:00.000Z', 4000);
    await at('2026-11-27T23:59:59.999Z', 50_000);
    await at('2026-11-28T00:00:00.000Z', 2);
    await at('2026-12-01T00:00:00.000Z', 3);
    await at('2026-11-27T12:00:00.000Z', 5, 4712);
    expect(await left('2026-11-27', 100_000)).toBe('unloaded');
    await bed.service.directories.credits.loadOwner(ownerId, {
      projectNumber: 4711,
      periods: ['2026-11-27', '2026-11', '2026-09'],
    });
    expect(await left('2026-11-27', 100_000)).toBe(46_000);
    expect(await left('2026-11', 100_000)).toBe(45_678);
    expect(await left('2026-09', 100_000)).toBe(100_000);
  });
});
