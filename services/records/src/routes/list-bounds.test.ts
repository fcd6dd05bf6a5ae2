import { createDatabase, type Database } from '@backlot/database';
import { cpuWork, toRequester } from '@backlot/fair-shares';
import { asKey, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resolveAccess } from '../collections/access.ts';
import { createLists } from '../list/lists.ts';
import { splitFilter } from '../query/selection.ts';
import { parseSort } from '../query/sort.ts';
import { readItems } from '../testing/read-items.ts';
import { type Query, search } from '../testing/search.ts';
import { ada, bob, createTestBed, type TestBed, unchanged } from '../testing/test-bed.ts';
import { parseWhere } from '../where/parse.ts';

describe('bounds on what a list or count reads', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ scanRows: 20, pageBytes: 10_000 });
    for (let n = 0; n < 30; n++)
      await bed.create('many', { n, even: n % 2 === 0 }, asUser(n < 28 ? ada : bob));
  });
  afterAll(() => bed.close());
  const list = (query: Query, identity = asKey()) =>
    bed.call('GET', `/db/many?${search(query)}`, { identity });

  it('answers 422 with the field where the scan would be cut, and never a wrong page', async () => {
    const refusals: [Query, string][] = [
      [{ where: { n: 3 } }, '"n"'],
      [{ sort: 'n' }, '"n"'],
      [{ sort: '-updatedAt' }, '"updatedAt"'],
      [{ where: { even: true }, limit: 11 }, '"even"'],
      [{ where: { $or: [{ 'a.b': 1 }, { n: 1 }] } }, '"a.b"'],
    ];
    for (const [query, field] of refusals) {
      const answer = await list(query);
      expect(answer).toMatchObject({ status: 422, body: { code: 'query_too_expensive' } });
      expect(answer.body.error).toContain(field);
    }
    expect((await list({ mine: 1 }, asUser(bob))).status).toBe(422);
  });

  it('answers what it finds within the budget, or by the primary key', async () => {
    expect((await list({ where: { even: true }, limit: 9 })).body).toMatchObject({ hasMore: true });
    expect((await list({})).body.items).toHaveLength(30);
    const half = (await list({ limit: 15 })).body;
    const older = await list({
      where: { even: true, createdAt: { $lte: half.items[14].createdAt } },
    });
    expect([200, 422]).toContain(older.status);
    const id = half.items[0].id;
    expect((await list({ where: { id } })).body.items).toEqual([half.items[0]]);
    expect((await list({ where: { id: { $in: [id] }, n: 29 } })).body.items).toEqual([
      half.items[0],
    ]);
    expect((await list({ where: { id: { $in: [id] } }, sort: 'n' })).body.items).toEqual([
      half.items[0],
    ]);
  });

  it('counts exactly within the budget and says so where it estimates', async () => {
    const count = async (query: Query) =>
      (await bed.call('GET', `/db/many/_count?${search(query)}`, { identity: asKey() })).body;
    expect(await count({})).toEqual({ count: 30 });
    expect(await count({ where: { even: true, id: { $exists: true } } })).toMatchObject({
      approximate: true,
    });
    const { count: estimate } = await count({ where: { even: true } });
    expect(estimate).toBeGreaterThan(10);
    expect(estimate).toBeLessThan(20);
  });

  it('shows in its metrics what reads by the primary key and scans cost', async () => {
    await list({});
    await list({ where: { even: true }, limit: 9 });
    const metrics = await bed.registry.metrics();
    for (const lane of ['quick', 'slow'])
      expect(metrics).toMatch(
        new RegExp(`backlot_queue_cost_seconds_total{queue="scans",lane="${lane}"} [\\d.e-]*[1-9]`),
      );
  });

  it('answers 422 where a scan takes too long', async () => {
    const hurried = createDatabase({
      url: bed.databaseUrl,
      schema: 'records',
      statementTimeoutMs: 100,
      scanTimeoutMs: 100,
    });
    const limits = { scanRows: 100, pageBytes: 10_000 };
    const shares = cpuWork({ places: 1 });
    const lists = createLists({
      database: hurried,
      limits,
      refresh: unchanged,
      scans: shares,
      quickScans: shares,
      largeReads: shares,
      answers: shares,
    });
    const collection = {
      projectNumber: testProject.number,
      id: 1,
      name: 'many',
      access: 'shared',
      epoch: 1,
      slots: [],
      unique: [],
    } as const;
    const page = (sort: string, offset: number) =>
      lists.page(
        {
          collection,
          access: resolveAccess('shared', asKey()),
          filter: splitFilter(parseWhere(undefined)),
          ownerId: undefined,
          sort: parseSort(sort),
          limit: 10,
          offset,
          after: undefined,
        },
        { requester: toRequester(asKey()) },
      );
    await bed.database.transaction(async () => {
      await bed.database.query('LOCK TABLE records');
      await expect(page('n', 0)).rejects.toMatchObject({ code: 'query_too_expensive' });
      await expect(page('-createdAt', 1)).rejects.toMatchObject({ name: 'StatementTimeout' });
    });
    // 100 ms may be too few for it on a busy machine.
    const read = await until(() => page('n', 0));
    expect(await readItems(read)).toHaveLength(10);
    await hurried.close();
  });

  it('lets scans of one owner wait for each other, but neither scans of others nor pages by the primary key', async () => {
    let end = () => {};
    const held = new Promise<void>((resolve) => {
      end = resolve;
    });
    const scanned: unknown[] = [];
    const database: Database = {
      ...bed.database,
      async scan<Row>(text: string, values?: readonly unknown[]) {
        scanned.push(values?.[0]);
        await held;
        return bed.database.scan<Row>(text, values);
      },
    };
    const limits = { scanRows: 100, pageBytes: 10_000 };
    const shares = cpuWork({ places: 6, quickPlaces: 3 });
    const lists = createLists({
      database,
      limits,
      refresh: unchanged,
      scans: shares,
      quickScans: shares,
      largeReads: shares,
      answers: cpuWork({ places: 1 }),
    });
    const page = (owner: string, projectNumber: number, where: string | undefined, offset = 0) =>
      lists.page(
        {
          collection: {
            projectNumber,
            id: 1,
            name: 'many',
            access: 'shared',
            epoch: 1,
            slots: [],
            unique: [],
          },
          access: resolveAccess('shared', asKey()),
          filter: splitFilter(parseWhere(where)),
          ownerId: undefined,
          sort: parseSort(),
          limit: 10,
          offset,
          after: undefined,
        },
        { requester: [owner, `${projectNumber}`, '192.0.2.1'] },
      );
    const where = '{"n":{"$gte":0}}';
    const scans = [101, 102, 103, 104].map((project) => page('eve', project, where));
    scans.push(page('ada', 201, where));
    const { number } = testProject;
    await expect(page('eve', number, undefined, 1)).resolves.toMatchObject({ hasMore: true });
    await expect(page('eve', number, '{"createdAt":{"$gt":"2000-01-01"}}')).resolves.toMatchObject({
      hasMore: true,
    });
    expect(scanned).toEqual([101, 102, 201]);
    end();
    await Promise.all(scans);
    expect(scanned).toEqual([101, 102, 201, 103, 104]);
  });

  it('ends a page early where its documents are large, and goes on behind it', async () => {
    for (let n = 0; n < 5; n++)
      await bed.create('large', { n, text: 'x'.repeat(n === 2 ? 20_000 : 4000) });
    const seen: number[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const { body } = await bed.call('GET', `/db/large?${search(cursor ? { cursor } : {})}`);
      expect(body.items.length).toBeGreaterThan(0);
      seen.push(...body.items.map(({ n }: { n: number }) => n));
      cursor = body.nextCursor;
      expect(body.hasMore).toBe(cursor !== null);
      pages += 1;
    } while (cursor !== null);
    expect(seen).toEqual([4, 3, 2, 1, 0]);
    expect(pages).toBe(3);
  });
});
