import type { Database, TextRow } from '@backlot/database';
import { createFairShares } from '@backlot/fair-shares';
import { asKey, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resolveAccess } from '../collections/access.ts';
import { createQuota } from '../record/quota.ts';
import { createRecords } from '../record/records.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';
import { parseWhere } from '../where/parse.ts';
import { createLists } from './lists.ts';
import { splitFilter } from './selection.ts';
import { parseSort } from './sort.ts';

describe('the connections that all share', () => {
  let bed: TestBed;
  /** Bytes of each answer that travelled on them. */
  const carried: number[] = [];
  const kilobytes = [1, 200, 200, 900];
  const ids: string[] = [];
  const scans = createFairShares({ slots: 3, quickSlots: 3 });
  const access = resolveAccess('shared', asKey());
  const collection = {
    projectNumber: testProject.number,
    id: 1,
    name: 'large',
    access: 'shared',
  } as const;
  const reader = (owner: string) => ({ flow: [owner, 'shop', '192.0.2.1'] as const });
  let records: ReturnType<typeof createRecords>;
  let lists: ReturnType<typeof createLists>;

  beforeAll(async () => {
    bed = await createTestBed();
    for (const [n, size] of kilobytes.entries()) {
      const { id } = await bed.create('large', { n, text: 'x'.repeat(size * 1000) });
      ids.push(id);
    }
    const database: Database = {
      ...bed.database,
      async read(name, text, values): Promise<TextRow[]> {
        const rows = await bed.database.read(name, text, values);
        carried.push(Buffer.byteLength(rows.flat().join('')));
        return rows;
      },
    };
    const limits = { scanRows: 100, pageBytes: 32 * 1024 * 1024 };
    const none = { records: 1, bytes: 1 };
    const quota = createQuota({ database, limits: { project: none, owner: none }, now: Date.now });
    records = createRecords({ database, quota, scans, now: Date.now });
    lists = createLists({ database, limits, scans });
  });
  afterAll(() => bed.close());

  const page = async (limit: number, sort: string) => {
    const selection = {
      collection,
      access,
      filter: splitFilter(parseWhere(undefined)),
      ownerId: undefined,
    };
    const { itemsJson, hasMore } = await lists.page(
      { ...selection, sort: parseSort(sort), limit, offset: 0, after: undefined },
      reader('ada'),
    );
    const items: { n: number; text: string }[] = JSON.parse(itemsJson);
    return { sizes: items.map(({ text }) => text.length / 1000), hasMore };
  };

  it('carry small answers only; large ones come whole by other ways', async () => {
    expect(await page(100, 'createdAt')).toEqual({ sizes: kilobytes, hasMore: false });
    expect(await page(3, 'createdAt')).toEqual({ sizes: [1, 200, 200], hasMore: true });
    expect(await page(1, '-createdAt')).toEqual({ sizes: [900], hasMore: true });
    for (const [n, id] of ids.entries()) {
      const { json } = await records.get(
        { project: testProject, collection, access, id },
        reader('ada'),
      );
      expect(JSON.parse(json)).toMatchObject({ id, n });
      expect(JSON.parse(json).text).toHaveLength((kilobytes[n] ?? 0) * 1000);
    }
    expect(carried).toHaveLength(7);
    expect(Math.max(...carried)).toBeLessThan(256 * 1024);
  });

  it('answer small ones while the large ones of the same owner wait', async () => {
    let end = () => {};
    const held = new Promise<void>((resolve) => {
      end = resolve;
    });
    const busy = scans.run(reader('eve').flow, () => held, { isQuick: true });
    const get = (n: number, owner: string) =>
      records.get({ project: testProject, collection, access, id: ids[n] ?? '' }, reader(owner));
    const order: string[] = [];
    const large = get(3, 'eve').then(() => order.push('large'));
    await get(0, 'eve').then(() => order.push('small'));
    await get(3, 'ada').then(() => order.push('large of another'));
    end();
    await Promise.all([busy, large]);
    expect(order).toEqual(['small', 'large of another', 'large']);
  });
});
