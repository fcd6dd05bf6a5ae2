import type { Database, TextRow } from '@backlot/database';
import { cpuWork } from '@backlot/fair-shares';
import type { JsonParts } from '@backlot/http';
import { asKey, asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resolveAccess } from '../../collections/access.ts';
import type { Collection } from '../../collections/collections.ts';
import type { CollectionSearch } from '../../collections/stored/search-words.ts';
import { splitFilter } from '../../query/selection.ts';
import { parseSort } from '../../query/sort.ts';
import { createQuota } from '../../record/quota/quota.ts';
import { createRecords } from '../../record/records.ts';
import { readItems } from '../../testing/read-items.ts';
import {
  ada,
  bob,
  checksWithout,
  createTestBed,
  type TestBed,
  unchanged,
} from '../../testing/test-bed.ts';
import { parseWhere } from '../../where/parse.ts';
import { createLists, type ListPage } from '../lists.ts';

interface Item {
  n: number;
  text: string;
}

describe('large answers', () => {
  let bed: TestBed;
  /** Bytes of each answer that travelled on the connections that all share. */
  const carried: number[] = [];
  /** Bytes of each answer that travelled on others. */
  const read: number[] = [];
  const kilobytes = [1, 200, 200, 900, 400];
  const ids: string[] = [];
  const access = resolveAccess('shared', asKey());
  const collection = {
    projectNumber: testProject.number,
    id: 1,
    name: 'large',
    access: 'shared',
    epoch: 1,
    slots: [],
    unique: [],
  } as const;
  const reader = (owner: string) => ({ requester: [owner, 'shop', '192.0.2.1'] as const });
  let database: Database;

  beforeAll(async () => {
    bed = await createTestBed();
    for (const [n, size] of kilobytes.entries()) {
      const content = { n, text: 'x'.repeat(size * 1000) };
      const { id } = await bed.create('large', content, asUser(n === 2 ? bob : ada));
      ids.push(id);
    }
    database = {
      ...bed.database,
      async read(name, text, values): Promise<TextRow[]> {
        const rows = await bed.database.read(name, text, values);
        carried.push(Buffer.byteLength(rows.flat().join('')));
        return rows;
      },
      async query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]> {
        const rows = await bed.database.query<Row>(text, values);
        read.push(Buffer.byteLength(JSON.stringify(rows)));
        return rows;
      },
      async bytes(text, values) {
        const rows = await bed.database.bytes(text, values);
        for (const column of rows.flat()) read.push(column?.length ?? 0);
        return rows;
      },
    };
  });
  afterAll(() => bed.close());

  const setUp = (options: Partial<Parameters<typeof cpuWork>[0]> = {}) => {
    const limits = { scanRows: 100, pageBytes: 32 * 1024 * 1024 };
    const none = { records: 1, bytes: 1 };
    const quota = createQuota({ database, limits: { project: none, owner: none }, now: Date.now });
    const scans = cpuWork({ places: 3, quickPlaces: 3 });
    const answers = cpuWork({ places: 2, ...options });
    const refresh = unchanged;
    const largeReads = cpuWork({ places: 3 });
    const queues = { scans, quickScans: scans, largeReads, answers };
    const lists = createLists({ database, limits, refresh, ...queues });
    const records = createRecords({
      database,
      quota,
      refresh,
      checks: checksWithout(database),
      ...queues,
      now: Date.now,
    });
    const page = (
      query: {
        limit?: number;
        sort?: string;
        where?: object;
        whose?: string;
        words?: string[];
        collection?: Collection;
      },
      owner = 'ada',
    ): Promise<ListPage> =>
      lists.page(
        {
          collection: query.collection ?? collection,
          search: query.words && { words: query.words, former: [] },
          access: query.whose ? { ...access, ...own(query.whose) } : access,
          filter: splitFilter(parseWhere(JSON.stringify(query.where ?? {}))),
          ownerId: undefined,
          sort: parseSort(query.sort ?? 'createdAt'),
          limit: query.limit ?? 100,
          offset: 0,
          after: undefined,
        },
        reader(owner),
      );
    const get = (n: number, owner = 'ada') =>
      records.get({ project: testProject, collection, access, id: ids[n] ?? '' }, reader(owner));
    return { page, get, scans, answers };
  };
  const own = (userId: string) => resolveAccess('private', asUser(userId));

  const large = ({ items }: ListPage): JsonParts => {
    if (typeof items === 'string') throw new Error('not large');
    return items;
  };

  it('travel in parts and not on the connections that all share', async () => {
    const { page, get } = setUp();
    carried.length = 0;
    read.length = 0;
    const sizes = async (query: Parameters<typeof page>[0]) => {
      const found = await page(query);
      const items = await readItems<Item>(found);
      return [items.map(({ text }) => text.length / 1000), found.hasMore];
    };
    expect(await sizes({})).toEqual([kilobytes, false]);
    expect(await sizes({ limit: 3 })).toEqual([[1, 200, 200], true]);
    expect(await sizes({ limit: 1, sort: '-createdAt' })).toEqual([[400], true]);
    expect(await sizes({ sort: '-n' })).toEqual([[...kilobytes].reverse(), false]);
    expect(await sizes({ where: { n: { $gt: 2 } } })).toEqual([[900, 400], false]);
    expect(await sizes({ whose: bob })).toEqual([[200], false]);
    for (const n of ids.keys()) {
      const { json, release } = await get(n);
      release?.();
      expect(JSON.parse(json.toString())).toMatchObject({ id: ids[n], n });
      expect(JSON.parse(json.toString()).text).toHaveLength((kilobytes[n] ?? 0) * 1000);
    }
    expect(carried.length).toBeGreaterThanOrEqual(7);
    expect(Math.max(...carried)).toBeLessThan(256 * 1024);
    expect(Math.max(...read)).toBeLessThan(910_000);
  });

  it('test each part once more when it is read', async () => {
    const { page } = setUp();
    const items = large(await page({ where: { n: { $gte: 0 } } }));
    expect(JSON.parse(`[${await items.next()}]`)).toHaveLength(3);
    const change = 'UPDATE records SET data = data || $2 WHERE project_id = $3 AND id = $1';
    const project = testProject.number;
    await bed.database.query(change, [ids[3], '{"n":-1}', project]);
    expect(JSON.parse(`[${await items.next()}]`)).toMatchObject([{ n: 4 }]);
    expect(await items.next()).toBeUndefined();
    await bed.database.query(change, [ids[3], '{"n":3}', project]);
  });

  it('test each part of a search for its words too', async () => {
    const path = `/platform/projects/${testProject.id}/collections/large`;
    const set = (search: unknown) =>
      bed.call('PUT', path, { identity: asOwner(), body: { search } });
    const patch = (n: number, data: object) =>
      bed.call('PATCH', `/db/large/${ids[n]}`, { identity: asKey(), body: { data } });
    await set(['tag']);
    for (const n of ids.keys()) await patch(n, { tag: 'green tea' });
    const search = await until(async () => {
      const [row] = await bed.database.query<CollectionSearch>(
        'SELECT number, fields, state FROM searches WHERE project_id = $1',
        [testProject.number],
      );
      return row?.state === 'ready' && row;
    });
    const [{ epoch } = { epoch: 0 }] = await bed.database.query<{ epoch: number }>(
      'SELECT epoch FROM collections WHERE project_id = $1',
      [testProject.number],
    );
    const { page } = setUp({ isShort: true });
    const found = () =>
      page({ words: ['tea'], sort: 'n', collection: { ...collection, epoch, search } });
    const [items, others] = [large(await found()), large(await found())];
    const next = async (of: JsonParts) => {
      const part = await of.next();
      return part && JSON.parse(`[${part}]`).map(({ n }: Item) => n);
    };
    expect([await next(items), await next(others)]).toEqual([
      [0, 1, 2],
      [0, 1, 2],
    ]);
    await patch(3, { tag: 'coffee' });
    await patch(4, { tag: 'black tea' });
    expect([await next(items), await next(items)]).toEqual([[4], undefined]);
    await set(false);
    await until(async () => (await bed.database.query('SELECT FROM search_texts')).length === 0);
    expect([await next(others), await next(others)]).toEqual([[3], [4]]);
    others.close();
  });

  it('wait for each other in memory, but neither for small ones nor for those of other owners', async () => {
    const { page, get, answers } = setUp();
    const untaken = large(await page({}, 'eve'));
    await untaken.next();
    const order: string[] = [];
    const next = get(3, 'eve').then(({ release }) => {
      order.push('large');
      release?.();
    });
    await get(0, 'eve').then(() => order.push('small'));
    expect(await readItems(await page({ limit: 1 }, 'eve'))).toHaveLength(1);
    expect(await readItems(await page({}, 'ada'))).toHaveLength(5);
    order.push('of another');
    expect(answers.usage().slow).toMatchObject({ running: 1, waiting: 1 });
    untaken.close();
    await next;
    expect(order).toEqual(['small', 'of another', 'large']);
    expect(answers.usage().slow).toMatchObject({ running: 0, waiting: 0 });
  });

  it('do not wait for scans', async () => {
    const { page, get, scans } = setUp();
    const others = ['eve', 'mallory', 'oscar'].map((owner) => scans.take(reader(owner).requester));
    const ends = await Promise.all(others);
    (await get(3)).release?.();
    expect(await readItems(await page({}))).toHaveLength(5);
    for (const end of ends) end();
  });

  it('are refused where too many wait, and hold nothing when their caller goes', async () => {
    const { page, get, answers } = setUp({ maxWaiting: 5 });
    const first = large(await page({}));
    await first.next();
    const gone = new AbortController();
    const { signal } = gone;
    const waits = answers.take(reader('ada').requester, { signal });
    await expect(large(await page({})).next()).rejects.toMatchObject({ name: 'FairShareFull' });
    await expect(get(3)).rejects.toMatchObject({ name: 'FairShareFull' });
    gone.abort(new Error('gone'));
    await expect(waits).rejects.toThrow('gone');
    // What has begun goes on, however many wait.
    expect(await first.next()).toBeDefined();
    first.close();
    expect(answers.usage().slow).toMatchObject({ running: 0, waiting: 0 });
  });

  it('are whole over HTTP', async () => {
    const { status, body } = await bed.call('GET', '/db/large?sort=n');
    expect([status, body.hasMore, body.nextCursor]).toEqual([200, false, null]);
    expect(body.items.map(({ text }: Item) => text.length / 1000)).toEqual(kilobytes);
    const one = await bed.call('GET', `/db/large/${ids[3]}`);
    expect(one.body).toMatchObject({ n: 3, id: ids[3] });
    expect(one.headers.get('etag')).toMatch(/^"\w+"$/);
  });
});
