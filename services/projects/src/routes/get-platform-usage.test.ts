import { randomUUID } from 'node:crypto';
import { type CallBatch, type CallSum, platformUsageRoutes } from '@backlot/contract';
import { refusesStrangers, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { usageEvent } from '../testing/ledger.ts';
import { createTestBed, dayMs, ownerA, ownerB, type TestBed } from '../testing/test-bed.ts';

const hourMs = 60 * 60_000;

describe('getPlatformUsage', () => {
  let bed: TestBed;
  let projectIds: string[];
  let numbers: number[];
  beforeAll(async () => {
    bed = await createTestBed({ monthlyCredits: 1000 });
    projectIds = [await bed.project(ownerA), await bed.project(ownerA), await bed.project(ownerB)];
    const find = bed.service.directories.projects.findProject;
    numbers = await Promise.all(projectIds.map(async (id) => (await find(id))?.number ?? 0));
  });
  afterAll(() => bed.close());
  refusesStrangers(
    platformUsageRoutes.getPlatformUsage,
    () => bed.http,
    () => ({ path: '/usage' }),
  );

  const sum = (changes: Partial<CallSum>): CallSum => ({
    kind: 'route',
    projectNumber: numbers[0] ?? 0,
    name: 'listRecords',
    calls: 1,
    errors: 0,
    refusals: 0,
    faults: 0,
    bytes: 0,
    databaseUs: 0,
    threadUs: 0,
    ...changes,
  });
  const take = (items: CallSum[], changes: Partial<CallBatch> = {}, sinceMs = bed.now()) =>
    bed.service.directories.callLog.takeCalls({
      gateway: randomUUID(),
      number: 1,
      projects: [],
      sums: { since: new Date(sinceMs).toISOString(), items },
      ...changes,
    });
  const get = async (query = '') => {
    const path = `/platform/usage${query}`;
    return bed.call('GET', path, { identity: await bed.operator() });
  };
  const read = async (query = '') => {
    const { status, body } = await get(query);
    expect(status).toBe(200);
    return body;
  };

  it('adds up what gateways hand over by project, owner, route and network, the heaviest first', async () => {
    const [first = 0, second = 0, third = 0] = numbers;
    await take([
      sum({ calls: 10, errors: 3, refusals: 1, faults: 1, bytes: 5000, databaseUs: 2500 }),
      sum({ projectNumber: second, calls: 4, threadUs: 90_000 }),
      sum({ projectNumber: third, name: 'sendEmail', calls: 12 }),
      sum({ projectNumber: 0, name: 'none', calls: 2, errors: 2 }),
      sum({ kind: 'address', name: '192.0.2.0/24', projectNumber: first, calls: 10 }),
      sum({ kind: 'address', name: '192.0.2.0/24', projectNumber: third, calls: 12 }),
      sum({ kind: 'address', name: '', projectNumber: 0, calls: 6 }),
    ]);
    await take([sum({ calls: 5 })]);
    const byProject = await read();
    expect(byProject).toMatchObject({ by: 'project', step: 'minutes', total: 33, hasMore: false });
    expect(byProject.items).toEqual([
      expect.objectContaining({
        projectId: projectIds[0],
        projectName: 'A project',
        status: 'active',
        ownerId: ownerA,
        calls: 15,
        errors: 3,
        refusals: 1,
        faults: 1,
        bytes: 5000,
        dbMs: 3,
        millicredits: 0,
      }),
      expect.objectContaining({ projectId: projectIds[2], calls: 12 }),
      expect.objectContaining({ projectId: projectIds[1], calls: 4, cpuMs: 90 }),
      expect.objectContaining({ projectId: null, status: null, ownerId: null, calls: 2 }),
    ]);
    expect((await read('?sort=-cpuMs&limit=1')).items).toEqual([
      expect.objectContaining({ projectId: projectIds[1] }),
    ]);
    expect((await read('?by=owner')).items).toMatchObject([
      { ownerId: ownerA, calls: 19 },
      { ownerId: ownerB, calls: 12 },
      { ownerId: null, calls: 2 },
    ]);
    expect((await read('?by=route&sort=-errors')).items).toMatchObject([
      { route: 'listRecords', errors: 3, calls: 19 },
      { route: 'none', errors: 2 },
      { route: 'sendEmail', errors: 0 },
    ]);
    expect((await read('?by=address')).items).toMatchObject([
      { address: '192.0.2.0/24', calls: 22 },
      { address: null, calls: 6 },
    ]);
    expect((await read(`?by=address&projectId=${projectIds[2]}`)).items).toMatchObject([
      { address: '192.0.2.0/24', calls: 12 },
    ]);
    expect((await read(`?by=project&ownerId=${ownerA}&route=listRecords`)).items).toHaveLength(2);
    expect((await read('?projectId=none-such')).items).toEqual([]);
  });

  it('takes a batch once that comes twice, and four gateways at once', async () => {
    const before = (await read()).items[0].calls;
    const batch = { gateway: randomUUID(), number: 1 };
    await Promise.all([1, 2, 3].map(() => take([sum({ calls: 100 })], batch)));
    await Promise.all([1, 2, 3, 4].map(() => take([sum({ calls: 1 }), sum({ name: 'other' })])));
    expect((await read()).items[0].calls).toBe(before + 108);
  });

  it('has the credits that the ledger has booked, each call once', async () => {
    const event = usageEvent(bed, ownerB, {
      projectId: projectIds[2] ?? '',
      projectNumber: numbers[2] ?? 0,
      route: 'sendEmail',
      millicredits: 700,
      address: '2001:db8:1:2::/64',
    });
    await bed.service.start();
    for (const id of ['one', 'again'])
      await bed.publish({ id, topic: 'usage.recorded', payload: event });
    await until(async () => (await read('?sort=-millicredits')).total > 0);
    expect((await read('?sort=-millicredits')).items[0]).toMatchObject({
      projectId: projectIds[2],
      millicredits: 700,
    });
    expect((await read('?by=address&sort=-millicredits')).items[0]).toMatchObject({
      address: '2001:db8:1::/48',
      millicredits: 700,
    });
  });

  it('tells of last week by the hour, of last month by the day, and of networks no longer', async () => {
    const start = bed.now();
    bed.pass(7 * dayMs);
    await take([sum({ name: 'getRecord', calls: 1 })]);
    const lastWeek = (ms: number) => new Date(start + ms).toISOString();
    const then = await read(`?by=route&from=${lastWeek(-hourMs)}&to=${lastWeek(hourMs)}`);
    expect(then.step).toBe('hours');
    expect(then.items.some(({ route }: { route: string }) => route === 'sendEmail')).toBe(true);
    expect((await read('?by=route')).items).toMatchObject([{ route: 'getRecord', calls: 1 }]);
    bed.pass(20 * dayMs);
    while ((await bed.service.keepSumBounds()) !== undefined);
    const all = `from=${lastWeek(-dayMs)}`;
    const month = await read(`?by=route&${all}`);
    expect(month.step).toBe('days');
    expect(month.items.length).toBeGreaterThan(3);
    expect((await read(`?by=address&${all}`)).items).toEqual([]);
    const [left] = await bed.database.query<{ count: number }>(
      `SELECT count(*) FROM call_sums WHERE step <> 'days'`,
    );
    expect(left?.count).toBe(0);
    bed.pass(100 * dayMs);
    while ((await bed.service.keepSumBounds()) !== undefined);
    expect(await bed.database.query('SELECT FROM call_sums')).toEqual([]);
  });

  it('keeps the heavy ones of a period apart, and loses no call of the others', async () => {
    const many = Array.from({ length: 300 }, (_, n) =>
      sum({ kind: 'address', name: `10.0.${n}.0/24`, calls: n === 7 ? 900 : 1 }),
    );
    await take([...many, sum({ kind: 'address', name: '10.9.9.0/24', calls: 0, databaseUs: 1e7 })]);
    await bed.service.keepSumBounds(20);
    const { items, total } = await read('?by=address');
    expect(total).toBe(1199);
    expect(items).toHaveLength(20);
    expect(items[0]).toMatchObject({ address: '10.0.7.0/24', calls: 900 });
    expect(items).toContainEqual(expect.objectContaining({ address: '10.9.9.0/24', dbMs: 10_000 }));
    expect(items).toContainEqual(expect.objectContaining({ address: null }));
  });

  it.each([
    '?by=user',
    '?sort=calls',
    '?limit=0',
    '?limit=1000',
    '?from=yesterday',
    '?from=2020-01-01T00:00:00Z',
    '?from=2999-01-01T00:00:00Z',
    '?by=address&route=listRecords',
    "?projectId='; DROP TABLE call_sums; --&sort=-calls;",
  ])('refuses %s', async (query) => {
    expect(await get(query)).toMatchObject({ status: 400, body: { code: 'invalid_query' } });
  });
});
