import { ApiError } from '@backlot/contract';
import { createDatabase } from '@backlot/database';
import { cpuWork, toRequester } from '@backlot/fair-shares';
import { asKey } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { V7Generator } from 'uuidv7';
import { resolveAccess } from '../collections/access.ts';
import type { Collection } from '../collections/collections.ts';
import { createLists, type Lists } from '../list/lists.ts';
import { expectedOrder, type Item } from '../testing/order-model.ts';
import { readItems } from '../testing/read-items.ts';
import { ada, bob, createTestBed, type TestBed, unchanged } from '../testing/test-bed.ts';
import { checkTextOrder } from '../text-order.ts';
import { idTimeMs } from '../timestamps.ts';
import type { Json } from '../where/filter.ts';
import { parseWhere } from '../where/parse.ts';
import { splitFilter } from './selection.ts';
import { parseSort } from './sort.ts';

const sharedStart = 'é'.repeat(300);
const veryLong = `${sharedStart}${'x'.repeat(3000)}`;
const sortable: fc.Arbitrary<Json> = fc.constantFrom<Json[]>(
  null,
  true,
  false,
  0,
  1,
  1,
  -1,
  10,
  9,
  1e-300,
  '',
  '1',
  '10',
  '9',
  'a',
  'B',
  'é',
  '\uFFFF',
  '\u{1F600}',
  sharedStart,
  `${sharedStart}a`,
  `${sharedStart}b`,
  `${veryLong}a`,
  `${veryLong}b`,
  [],
  [1],
  {},
  { b: 1 },
);
const document = fc.record(
  {
    a: sortable,
    b: fc.oneof(sortable, fc.record({ c: sortable }), fc.array(sortable, { maxLength: 2 })),
  },
  { requiredKeys: [] },
);
const sortField = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.constantFrom(
      'a',
      'b',
      'b.c',
      'b.0',
      'b.-1',
      'id',
      'ownerId',
      'createdAt',
      'updatedAt',
      'none',
    ),
  )
  .map((parts) => parts.join(''));
const sorts = fc.array(sortField, { minLength: 1, maxLength: 3 }).map((fields) => fields.join(','));

const mirrored = (sort: string) =>
  sort
    .split(',')
    .map((field) => (field.startsWith('-') ? field.slice(1) : `-${field}`))
    .join(',');

const reader = { requester: toRequester(asKey()) };

describe('sort', () => {
  let bed: TestBed;
  let lists: Lists;
  let collections = 0;
  const access = resolveAccess('shared', asKey());
  beforeAll(async () => {
    bed = await createTestBed();
    const limits = { scanRows: 100_000, pageBytes: 32 * 1024 * 1024 };
    const shares = cpuWork({ places: 1 });
    const refresh = unchanged;
    lists = createLists({
      database: bed.database,
      limits,
      refresh,
      scans: shares,
      quickScans: shares,
      largeReads: shares,
      answers: shares,
    });
  });
  afterAll(() => bed.close());

  /** Several records a millisecond, some changed later than created. */
  const fill = async (documents: readonly object[]): Promise<Collection> => {
    collections += 1;
    const generator = new V7Generator();
    const start = Date.now();
    const ids = documents.map((_, i) =>
      generator.generateOrResetWithTs(start + Math.floor(i / 3)).toString(),
    );
    await bed.database.query(
      `INSERT INTO records (project_id, coll_id, id, owner_id, created_at, updated_at, data)
       SELECT 1, $1, id, owner, time, time + change * interval '1 ms', data
       FROM unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::int[], $6::jsonb[]) r(id, owner, time, change, data)`,
      [
        collections,
        ids,
        documents.map((_, i) => [null, ada, bob][i % 3]),
        ids.map((id) => new Date(idTimeMs(id)).toISOString()),
        documents.map((_, i) => (i * 7) % 5),
        documents.map((data) => JSON.stringify(data)),
      ],
    );
    return {
      projectNumber: 1,
      id: collections,
      name: 'x',
      access: 'shared',
      epoch: 1,
      slots: [],
      unique: [],
    };
  };

  const pages = async (collection: Collection, sort: string, limit: number): Promise<Item[]> => {
    const items: Item[] = [];
    const selection = {
      collection,
      access,
      filter: splitFilter(parseWhere(undefined)),
      ownerId: undefined,
    };
    let after: Parameters<Lists['page']>[0]['after'];
    for (;;) {
      const page = await lists.page(
        {
          ...selection,
          sort: parseSort(sort),
          limit,
          offset: 0,
          after,
        },
        reader,
      );
      items.push(...(await readItems<Item>(page)));
      if (!page.hasMore || !page.last) return items;
      after = page.last;
    }
  };

  it('is one total order, whose mirror is exact, and cursors go through it without loss or repetition', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(document, { minLength: 1, maxLength: 14 }),
        fc.array(fc.tuple(sorts, fc.integer({ min: 1, max: 6 })), { minLength: 4, maxLength: 4 }),
        async (documents, tries) => {
          const collection = await fill(documents);
          const all = await pages(collection, 'id', 100);
          for (const [sort, limit] of tries) {
            const expected = expectedOrder(all, sort);
            const paged = await pages(collection, sort, limit);
            expect([sort, paged.map(({ id }) => id)]).toEqual([sort, expected]);
            const mirror = await pages(collection, mirrored(sort), 100);
            expect([sort, mirror.map(({ id }) => id).reverse()]).toEqual([sort, expected]);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it.each(['a', '-a'])('by %s goes on behind a record deleted between two pages', async (text) => {
    const collection = await fill([
      { a: '\u{1F600}' },
      { a: `${veryLong}b` },
      { a: `${veryLong}a` },
      { a: 'a' },
    ]);
    const sort = parseSort(text);
    const selection = {
      collection,
      access,
      filter: splitFilter(parseWhere(undefined)),
      ownerId: undefined,
      limit: 2,
      offset: 0,
    };
    const first = await lists.page({ ...selection, sort, after: undefined }, reader);
    const after = first.last ?? undefined;
    const expected = await lists.page({ ...selection, sort, after }, reader);
    await bed.database.query('DELETE FROM records WHERE id = $1', [after?.id]);
    const next = await lists.page({ ...selection, sort, after }, reader);
    expect(after?.keys).toEqual([expect.objectContaining({ isCut: true })]);
    expect(await readItems(next)).toEqual(await readItems(expected));
  });

  it.each([
    ['', 'needs field names'],
    ['-', 'needs field names'],
    ['a,,b', 'needs field names'],
    ['a,b,c,d', 'more than 3'],
    ['$a', 'starts with "$"'],
    ['a.$b', 'starts with "$"'],
    ['a\0', 'NUL'],
    ['\ud800', 'surrogate'],
    [Array.from({ length: 17 }, () => 'a').join('.'), '16 levels'],
  ])('refuses %j', (text, reason) => {
    expect(() => parseSort(text)).toThrow(ApiError);
    expect(() => parseSort(text)).toThrow(reason);
  });

  it('rests on a database that sorts texts by code point, and says so on another', async () => {
    await expect(checkTextOrder(bed.database)).resolves.toBeUndefined();
    const url = new URL(bed.databaseUrl);
    const name = `${url.pathname.slice(1)}_icu`;
    await bed.ownerDatabase.query(
      `CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`,
    );
    url.pathname = `/${name}`;
    const other = createDatabase({ url: url.href, schema: 'public' });
    await expect(checkTextOrder(other)).rejects.toThrow('C.UTF-8');
    await other.close();
    await bed.ownerDatabase.query(`DROP DATABASE ${name}`);
  });
});
