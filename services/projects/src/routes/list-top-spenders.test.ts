import { creditRoutes } from '@backlot/contract';
import { refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { consumers, type UsageEvent, usageEvent } from '../testing/ledger.ts';
import { createTestBed, dayMs, ownerA, ownerB, type TestBed } from '../testing/test-bed.ts';

describe('what the operator sees of credits', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ monthlyCredits: 100_000 });
    await bed.service.start();
  });
  afterAll(() => bed.close());
  for (const [route, path] of [
    [creditRoutes.listTopSpenders, '/spenders'],
    [creditRoutes.getReconciliation, '/reconciliation'],
  ] as const)
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path }),
    );

  const get = async (path: string) => {
    const { status, body } = await bed.call('GET', `/platform${path}`, {
      identity: await bed.operator(),
    });
    expect(status).toBe(200);
    return body;
  };

  it('lists projects and owners of all, the dearest first, of so many days', async () => {
    const [cheap, dear, foreign] = [
      await bed.project(ownerA),
      await bed.project(ownerA),
      await bed.project(ownerB),
    ];
    const [consume] = consumers(bed, 1);
    const use = async (ownerId: string, projectId: string, changes: Partial<UsageEvent>) => {
      const found = await bed.service.directories.projects.findProject(projectId);
      const project = { projectId, projectNumber: found?.number ?? 0, caller: 'visitor' };
      await consume?.(usageEvent(bed, ownerId, { ...project, ...changes }));
    };
    await use(ownerA, cheap, { millicredits: 1000 });
    bed.pass(2 * dayMs);
    await use(ownerA, dear, { millicredits: 4000 });
    await use(ownerA, dear, { millicredits: 500, address: '192.0.2.1' });
    await use(ownerB, foreign, { millicredits: 4200 });
    const { items } = await get('/spenders');
    expect(items.map(({ projectId }: { projectId: string }) => projectId)).toEqual([
      dear,
      foreign,
      cheap,
    ]);
    expect(items[0]).toMatchObject({ ownerId: ownerA, calls: 2, millicredits: 4500 });
    expect((await get('/spenders?days=1')).items).toHaveLength(2);
    expect((await get('/spenders?by=owner')).items).toEqual([
      { ownerId: ownerA, calls: 3, millicredits: 5500 },
      { ownerId: ownerB, calls: 1, millicredits: 4200 },
    ]);
    const { status } = await bed.call('GET', '/platform/spenders?days=31', {
      identity: await bed.operator(),
    });
    expect(status).toBe(400);
  });

  it('says when the ledger was last compared, and who differed', async () => {
    await bed.database.query('DELETE FROM reconciliation');
    const none = { lines: 0, balance: 0, grants: 0, held: 0 };
    expect(await get('/reconciliation')).toEqual({ startedAt: null, owners: none });
    await bed.database.query(
      `INSERT INTO reconciliation (started_at, counts) VALUES ('2026-01-31T10:00:00Z', '{"held": 2}')`,
    );
    expect(await get('/reconciliation')).toEqual({
      startedAt: '2026-01-31T10:00:00.000Z',
      owners: { ...none, held: 2 },
    });
  });
});
