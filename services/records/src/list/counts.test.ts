import type { Database } from '@backlot/database';
import { cpuWork } from '@backlot/fair-shares';
import { asKey, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resolveAccess } from '../collections/access.ts';
import { splitFilter } from '../query/selection.ts';
import { countCollections, foldTotals } from '../record/quota/totals.ts';
import { ada, createTestBed, type TestBed, unchanged } from '../testing/test-bed.ts';
import { parseWhere } from '../where/parse.ts';
import { createCounts } from './counts.ts';

describe('the count of a whole collection', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const count = async (collection: string, query = '') =>
    (await bed.call('GET', `/db/${collection}/_count${query}`, { identity: asKey() })).body;
  const write = (collection: string, body: object) =>
    bed.call('POST', `/db/${collection}/_batch`, { identity: asUser(ada), body });
  const create = (length: number) => Array.from({ length }, (_, n) => ({ data: { n } }));

  it('is exact after each write, whatever a sweep has folded by then', async () => {
    await write('steps', { create: create(40) });
    expect(await count('steps')).toEqual({ count: 40 });
    const { id } = await bed.create('steps', { n: 40 }, asUser(ada));
    await foldTotals(bed.database);
    expect(await count('steps')).toEqual({ count: 41 });
    await bed.call('DELETE', `/db/steps/${id}`, { identity: asUser(ada) });
    expect(await count('steps')).toEqual({ count: 40 });
    expect(await count('steps', '?where={"n":{"$lt":10}}')).toEqual({ count: 10 });
  });

  it('is exact while others write and sweeps fold', async () => {
    await write('busy', { create: create(10) });
    let folding = true;
    const folds = (async () => {
      while (folding) await foldTotals(bed.database);
    })();
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const made = (await write('busy', { create: create(5) })).body.create;
        expect((await count('busy')).count).toBeGreaterThanOrEqual(15);
        await write('busy', { delete: [made[0].id, made[1].id] });
      }),
    );
    folding = false;
    await folds;
    expect(await count('busy')).toEqual({ count: 70 });
    const [row] = await bed.database.query<{ count: number }>(
      `SELECT count(*) AS count FROM records JOIN collections USING (project_id, coll_id) WHERE name = 'busy'`,
    );
    expect(row).toEqual({ count: 70 });
  });

  it('looks through the records of a collection from before writes were counted', async () => {
    await write('old', { create: create(3) });
    await bed.database.query(`DELETE FROM count_delta`);
    await bed.database.query(
      `UPDATE collections SET row_count = 0, counted_at = NULL WHERE name = 'old'`,
    );
    expect(await count('old')).toEqual({ count: 3 });
    await countCollections(bed.database);
    await bed.create('old', {}, asUser(ada));
    expect(await count('old')).toEqual({ count: 4 });
  });

  it('leaves connections to others, whatever 20 owners ask', async () => {
    await write('asked', { create: create(3) });
    let underWay = 0;
    let most = 0;
    let free = () => {};
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    const database: Database = {
      ...bed.database,
      async named<Row>(name: string, text: string, values?: readonly unknown[]): Promise<Row[]> {
        underWay += 1;
        most = Math.max(most, underWay);
        await held;
        underWay -= 1;
        return bed.database.named<Row>(name, text, values);
      },
    };
    const scans = cpuWork({ places: 1, quickPlaces: 6 });
    const limits = { scanRows: 100, pageBytes: 1000 };
    const counts = createCounts({
      database,
      limits,
      refresh: unchanged,
      scans,
      quickScans: scans,
    });
    const [{ id } = { id: 0 }] = await bed.database.query<{ id: number }>(
      `SELECT coll_id AS id FROM collections WHERE name = 'asked'`,
    );
    const place = { projectNumber: testProject.number, id, name: 'asked', epoch: 1 };
    const selection = {
      collection: { ...place, access: 'shared', slots: [], unique: [] } as const,
      access: resolveAccess('shared', asKey()),
      filter: splitFilter(parseWhere('{}')),
      ownerId: undefined,
    };
    const all = Array.from({ length: 20 }, (_, n) =>
      counts.count(selection, { requester: [`owner ${n}`, `p${n}`, '192.0.2.1'] }),
    );
    await until(() => scans.usage().quick.waiting === 14);
    free();
    expect(await Promise.all(all)).toEqual(all.map(() => ({ count: 3 })));
    expect(most).toBe(6);
  });

  it('reads no record', async () => {
    await write('large', { create: create(500) });
    await bed.database.query(`UPDATE collections SET row_count = 1000000 WHERE name = 'large'`);
    expect((await count('large')).count).toBeGreaterThanOrEqual(1_000_000);
  });
});
