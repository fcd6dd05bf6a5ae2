import { creditRoutes } from '@backlot/contract';
import { refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createUsageReports } from '../ledger/usage-report.ts';
import { consumers, usageEvent } from '../testing/ledger.ts';
import { createTestBed, dayMs, ownerA, ownerB, type TestBed } from '../testing/test-bed.ts';

describe('getUsage', () => {
  let bed: TestBed;
  let id: string;
  const day = (ago: number) => new Date(bed.now() - ago * dayMs).toISOString().slice(0, 10);
  const at = (ago: number, time: string) => `${day(ago)}T${time}Z`;

  beforeAll(async () => {
    bed = await createTestBed({ monthlyCredits: 100 });
    id = await bed.project();
    const other = await bed.project();
    const [consume] = consumers(bed, 1);
    const used = async (projectId: string, route: string, occurredAt: string, credits: number) => {
      const found = await bed.service.directories.projects.findProject(projectId);
      const project = { projectId, projectNumber: found?.number ?? 0 };
      const millicredits = credits * 1000;
      await consume?.(usageEvent(bed, ownerA, { ...project, route, occurredAt, millicredits }));
    };
    await used(id, 'generateText', at(2, '00:00:00.000'), 2);
    await used(id, 'generateText', at(2, '23:59:59.999'), 3);
    await used(id, 'uploadFile', at(1, '12:00:00.000'), 4);
    await used(id, 'uploadFile', at(40, '12:00:00.000'), 8);
    await used(other, 'sendEmail', at(1, '12:00:00.000'), 16);
  });
  afterAll(() => bed.close());
  refusesStrangers(
    creditRoutes.getUsage,
    () => bed.http,
    () => ({ path: `/projects/${id}/usage` }),
  );

  const get = async (query = '', projectId = id, ownerId = ownerA) =>
    bed.call('GET', `/platform/projects/${projectId}/usage${query}`, {
      identity: await bed.owner(ownerId, projectId),
    });

  it('sums the last 30 days by calendar day (UTC) of the work, days without any included', async () => {
    const { status, body } = await get();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      from: day(29),
      to: day(0),
      by: 'day',
      calls: 3,
      millicredits: 9000,
      hasMore: false,
      nextCursor: null,
    });
    expect(body.items).toHaveLength(30);
    expect(body.items.slice(-3)).toEqual([
      { day: day(2), calls: 2, millicredits: 5000 },
      { day: day(1), calls: 1, millicredits: 4000 },
      { day: day(0), calls: 0, millicredits: 0 },
    ]);
  });

  it('sums by route, the dearest first', async () => {
    const { body } = await get(`?by=route&from=${day(50)}`);
    expect(body.items).toEqual([
      { route: 'uploadFile', calls: 2, millicredits: 12_000 },
      { route: 'generateText', calls: 2, millicredits: 5000 },
    ]);
  });

  it('sums one route by day, with what its calls used', async () => {
    const { body } = await get('?route=generateText');
    expect(body.items.slice(-3)).toEqual([
      { day: day(2), calls: 2, millicredits: 5000, units: 2000 },
      { day: day(1), calls: 0, millicredits: 0, units: 0 },
      { day: day(0), calls: 0, millicredits: 0, units: 0 },
    ]);
    expect([body.calls, body.millicredits]).toEqual([2, 5000]);
  });

  it('takes both ends of the range in, and no more', async () => {
    const { body } = await get(`?from=${day(2)}&to=${day(2)}`);
    expect(body.items).toEqual([{ day: day(2), calls: 2, millicredits: 5000 }]);
    expect((await get(`?by=route&from=${day(0)}`)).body.items).toEqual([]);
  });

  it.each(['Pacific/Kiritimati', 'Pacific/Pago_Pago'])(
    'counts the same days where the database believes to be in %s',
    async (zone) => {
      const project = await bed.service.directories.projects.findProject(id);
      const scope = { projectNumber: project?.number ?? 0, ownerId: ownerA, anyOwner: false };
      const { body } = await bed.call('GET', `/platform/projects/${id}`, {
        identity: await bed.owner(ownerA, id),
      });
      const reports = createUsageReports(bed.database, { get: async () => body }, bed.now);
      const report = await bed.database.transaction(async () => {
        await bed.database.query("SELECT set_config('TimeZone', $1, true)", [zone]);
        return reports.create(scope, { by: 'day' });
      });
      expect(report).toEqual((await get()).body);
    },
  );

  it('shows the operator any project, and nobody the usage of another owner’s', async () => {
    const operators = await bed.call('GET', `/platform/projects/${id}/usage`, {
      identity: await bed.operator(id),
    });
    expect(operators.body).toEqual((await get()).body);
    const foreign = await get('', id, ownerB);
    expect(foreign).toMatchObject({ status: 404, body: { code: 'project_not_found' } });
    const mismatched = await bed.call('GET', '/platform/projects/unknown/usage', {
      identity: await bed.owner(ownerA, id),
    });
    expect(mismatched).toMatchObject({ status: 404, body: { code: 'project_not_found' } });
  });

  it('says 410 for a deleted project', async () => {
    const deleted = await bed.project();
    const identity = await bed.owner(ownerA, deleted);
    await bed.call('DELETE', `/platform/projects/${deleted}`, { identity });
    expect(await get('', deleted)).toMatchObject({
      status: 410,
      body: { code: 'project_deleted' },
    });
  });

  it.each([
    ['from', '?from=yesterday'],
    ['from', '?from=2026-02-30'],
    ['from', '?from=0000-01-01'],
    ['from', '?from=1999-12-31'],
    ['to', '?to=9999-12-31'],
    ['from', '?from=2026-03-02&to=2026-03-01'],
    ['from', '?from=2025-01-01&to=2026-01-02'],
    ['to', '?to=%00'],
    ['by', '?by=hour'],
    ['route', '?by=caller&route=sendEmail'],
    ['route', "?route='"],
  ])('refuses a wrong "%s": %s', async (field, query) => {
    const answer = await get(query);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_query' } });
    expect(answer.body.error).toContain(`"${field}"`);
  });

  it('takes a range of 366 days and the last day of all', async () => {
    expect((await get('?from=2025-01-01&to=2026-01-01')).body.items).toHaveLength(366);
    expect((await get('?from=2999-12-31&to=2999-12-31')).body.items).toHaveLength(1);
  });
});
