import { afterEach, describe, expect, it } from '@jest/globals';
import { consumers, usageEvent } from '../testing/ledger.ts';
import { createTestBed, dayMs, ownerA, type TestBed } from '../testing/test-bed.ts';

describe('the forecast of an owner’s credits', () => {
  let bed: TestBed;
  afterEach(() => bed.close());

  /** An owner of ten days with a balance, who has spent something a day for the last days. */
  const given = async (monthlyCredits: number, perDay: number) => {
    bed = await createTestBed({ monthlyCredits });
    const id = await bed.project();
    const found = await bed.service.directories.projects.findProject(id);
    const [consume] = consumers(bed, 1);
    if (monthlyCredits === 0)
      await bed.call('POST', '/platform/credits/grants', {
        identity: await bed.operator(),
        body: { ownerId: ownerA, credits: 100, reason: 'test' },
      });
    await bed.service.loadOwner(ownerA);
    for (let day = 0; day < 10; day++) {
      bed.pass(dayMs);
      await bed.service.loadOwner(ownerA);
      const project = { projectId: id, projectNumber: found?.number ?? 0 };
      await consume?.(usageEvent(bed, ownerA, { ...project, millicredits: perDay }));
    }
    const { body } = await bed.call('GET', '/platform/credits', {
      identity: await bed.owner(ownerA),
    });
    return body;
  };

  it('follows from what the last seven days have spent', async () => {
    const { balanceMillicredits, forecast } = await given(0, 5000);
    expect(balanceMillicredits).toBe(50_000);
    const endsAt = new Date(bed.now() + (10 * dayMs * 7) / 8).toISOString();
    expect([forecast.days, forecast.endsAt]).toEqual([7, expect.any(String)]);
    expect(Date.parse(forecast.endsAt)).toBeGreaterThanOrEqual(Date.parse(endsAt));
    expect(Date.parse(forecast.endsAt)).toBeLessThanOrEqual(bed.now() + 10 * dayMs);
  });

  it('names no end where the next credits come before it', async () => {
    const { forecast } = await given(100_000, 10);
    expect(forecast.millicreditsPerDay).toBeGreaterThan(0);
    expect(forecast.endsAt).toBeNull();
  });
});
