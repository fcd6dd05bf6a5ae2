import { cpuWork, toRequester } from '@backlot/fair-shares';
import { anonymous, asKey, asUser } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { V7Generator } from 'uuidv7';
import { resolveAccess } from '../../collections/access.ts';
import type { Collection } from '../../collections/collections.ts';
import { formatAccess } from '../../collections/rules.ts';
import type { Slot } from '../../collections/stored/slots.ts';
import { createAggregates } from '../../list/aggregates.ts';
import { createCounts } from '../../list/counts.ts';
import { createLists } from '../../list/lists.ts';
import {
  conditions,
  documents,
  filters,
  paths,
  positionPaths,
  scalar,
} from '../../testing/arbitrary-filters.ts';
import { readItems } from '../../testing/read-items.ts';
import { ada, bob, createTestBed, type TestBed, unchanged } from '../../testing/test-bed.ts';
import { type Filter, fieldsIn } from '../../where/filter.ts';
import { parseFilter, parseWhere } from '../../where/parse.ts';
import { parseRuleFilter } from '../../where/rule-filter.ts';
import { parseAggregation } from '../aggregate/aggregation.ts';
import type { CursorPosition } from '../cursor.ts';
import { splitFilter } from '../selection.ts';
import { parseSort } from '../sort.ts';

const fields = ['a', 'b', 'd', 'a.b', 'b.a', 'ownerId'];
const long = 'é'.repeat(128);
const longer = fc.constantFrom(long, `${long}a`, `${long}b`, long.slice(1), '\u{10FFFF}');
const values = fc.oneof(
  { weight: 3, arbitrary: scalar },
  { weight: 1, arbitrary: fc.oneof(longer, fc.constantFrom([], [1], ['a', null], {})) },
);
/** With arrays and objects in the field `d` as well, or with scalars alone. */
const records = fc.constantFrom(values, fc.oneof(scalar, longer)).chain((d) =>
  fc.array(
    fc
      .tuple(documents(true), fc.record({ d }, { requiredKeys: [] }))
      .map((parts) => Object.assign({}, ...parts) as Record<string, unknown>),
    { minLength: 1, maxLength: 25 },
  ),
);
const field = fc.oneof(paths, positionPaths, fc.constant('d'), fc.constant('d'));
const operand = fc.oneof({ weight: 5, arbitrary: scalar }, { weight: 1, arbitrary: longer });
const shown = {
  limit: fc.integer({ min: 1, max: 6 }),
  who: fc.constantFrom('key', 'ada', 'anonymous'),
  isMine: fc.boolean(),
};
const compared = scalar.filter((value) => value !== null);
/** For many of them no document need be looked at. */
const plainQueries = fc.record({
  where: fc.oneof(
    fc.constant({}),
    fc.record({ d: operand }),
    fc.record({ d: fc.record({ $gte: compared, $lt: compared }) }),
    fc.record({ d: fc.record({ $gt: compared }) }),
  ),
  sort: fc.constantFrom('d', '-d', 'id', 'ownerId'),
  offset: fc.constant(0),
  ...shown,
});
const condition = conditions(field, operand, { sizes: true });
const indexedCondition = fc
  .tuple(fc.constantFrom(...fields.slice(0, -1)), fc.oneof(operand, fc.record({ $gt: compared })))
  .map(([name, test]) => ({ [name]: test }));
const ownerCondition = fc
  .subarray([null, ada, bob.toUpperCase()])
  .map(($in) => ({ ownerId: { $in } }));
const oneToThree = (filter: fc.Arbitrary<object>) =>
  fc.array(filter, { minLength: 1, maxLength: 3 });
const branch = fc.oneof(
  { weight: 4, arbitrary: indexedCondition },
  { weight: 1, arbitrary: fc.oneof(condition, ownerCondition) },
  { weight: 1, arbitrary: oneToThree(indexedCondition).map(($and) => ({ $and })) },
  { weight: 1, arbitrary: oneToThree(indexedCondition).map(($or) => ({ $or })) },
);
const either = fc.oneof(
  oneToThree(branch).map(($or) => ({ $or })),
  fc.tuple(oneToThree(branch), indexedCondition).map(([$or, test]) => ({ ...test, $or })),
);
const mixedQueries = fc.record({
  where: fc.oneof(
    fc.constant({}),
    either,
    either,
    either,
    ownerCondition,
    filters(condition),
    fc.record({ d: fc.record({ $gt: longer }) }),
    fc.record({ d: fc.record({ $lte: longer }) }),
    fc.record({ d: fc.record({ $startsWith: operand.map(String) }) }),
  ),
  sort: fc.oneof(
    fc.constantFrom('-id', 'id'),
    fc.constantFrom(
      'd',
      '-d',
      'a',
      '-b',
      'ownerId',
      '-ownerId',
      'a.b',
      '-d,a',
      'd,id',
      'd,-id',
      '-a,id',
      'd,-a,b',
      '-a.b',
      'a.b,-d',
    ),
  ),
  offset: fc.constantFrom(0, 0, 1, 5),
  ...shown,
});
const isRuleFilter = (where: object): boolean => {
  try {
    return fieldsIn(parseRuleFilter(where)).length <= 20;
  } catch {
    return false;
  }
};
interface Ruled {
  access: Collection['access'];
  /** What all callers may read by it. */
  where?: object;
}
/** With some rules on values, for all or beside the owner. */
const accesses: fc.Arbitrary<Ruled> = fc.oneof(
  fc.constantFrom({ access: 'shared' as const }, { access: 'private' as const }),
  fc
    .tuple(
      fc.subarray(['owner']),
      fc.oneof(indexedCondition, indexedCondition, either, ownerCondition).filter(isRuleFilter),
    )
    .map(([words, where]) => ({
      access: {
        read: [...words, { to: ['anyone'], where: { ...where } }],
        create: [],
        change: [],
      },
      where,
    })),
);

const queries = fc.oneof({ weight: 2, arbitrary: mixedQueries }, plainQueries);
type Query = typeof queries extends fc.Arbitrary<infer T> ? T : never;
/** With what a rule asks beside it. */
type Asked = Query & { rule?: Filter };
const everything: Filter = { kind: 'and', filters: [] };

const callers: Record<string, ReturnType<typeof asKey>> = {
  key: asKey(),
  ada: asUser(ada),
  anonymous: anonymous(),
};
const reader = { requester: toRequester(asKey()) };
const limits = { scanRows: 100_000, pageBytes: 32 * 1024 * 1024 };

describe('answers by slots', () => {
  let bed: TestBed;
  let made = 0;
  let bySlots = 0;
  let byExactWalks = 0;
  let byTies = 0;
  let byBranches = 0;
  let readers: {
    lists: ReturnType<typeof createLists>;
    counts: ReturnType<typeof createCounts>;
    sums: ReturnType<typeof createAggregates>;
  };

  beforeAll(async () => {
    bed = await createTestBed();
    const database: typeof bed.database = {
      ...bed.database,
      async scan<Row>(text: string, given?: readonly unknown[]) {
        const rows = await bed.database.scan<Row>(text, given);
        if (/AS epoch/.test(text) && !(rows[0] as { unfinished: boolean }).unfinished) {
          bySlots += 1;
          if (/ROWS WITH TIES/.test(text)) byTies += 1;
          if (/NOT \(\(k\d/.test(text)) byBranches += 1;
        }
        return rows;
      },
      async read(name, text, given) {
        const rows = await bed.database.read(name, text, given);
        if (name.startsWith('records_walk') && rows[0]?.[0]) byExactWalks += 1;
        return rows;
      },
    };
    const shares = cpuWork({ places: 1 });
    const deps = { database, limits, refresh: unchanged, scans: shares, quickScans: shares };
    readers = {
      lists: createLists({ ...deps, largeReads: shares, answers: shares }),
      counts: createCounts(deps),
      sums: createAggregates(deps),
    };
  });
  afterAll(() => bed.close());

  const fill = async (contents: readonly object[], access: Collection['access']) => {
    made += 1;
    const generator = new V7Generator();
    await bed.database.query(
      `INSERT INTO collections (project_id, coll_id, name, access, created_at) VALUES (1, $1, $2, $3, now())`,
      [made, `c${made}`, formatAccess(access)],
    );
    const keys = fields.map((name, i) =>
      name === 'ownerId'
        ? 'records.owner_key(owner)'
        : `records.field_key(data, $${i + 5}::text[])`,
    );
    const paths = fields.filter((name) => name !== 'ownerId').map((name) => name.split('.'));
    await bed.database.query(
      `INSERT INTO records (project_id, coll_id, id, owner_id, created_at, updated_at, data, k1, k2, k3, k4, k5, k6)
       SELECT 1, $1, id, owner, now(), now(), data, ${keys.join(', ')}
       FROM unnest($2::uuid[], $3::uuid[], $4::jsonb[]) r(id, owner, data)`,
      [
        made,
        contents.map(() => generator.generate().toString()),
        contents.map((_, i) => [null, ada, bob][i % 3]),
        contents.map((data) => JSON.stringify(data)),
        ...paths,
      ],
    );
    const slots = fields.map(
      (name, i): Slot => ({ number: i + 1, field: name, state: 'ready', distinctShare: i / 10 }),
    );
    const collection = { projectNumber: 1, id: made, name: 'x', access, epoch: 1, unique: [] };
    return { withSlots: { ...collection, slots }, without: { ...collection, slots: [] } };
  };

  const select = (collection: Collection, { where, who, isMine, rule = everything }: Asked) => ({
    collection,
    access: resolveAccess(collection.access, callers[who] ?? asKey()),
    filter: splitFilter({ kind: 'and', filters: [parseWhere(JSON.stringify(where)), rule] }),
    ownerId: isMine && who === 'ada' ? ada : undefined,
  });

  it('do not wait for scans', async () => {
    const { withSlots } = await fill([{ d: 1 }, { d: 2 }], 'shared');
    const scans = cpuWork({ places: 1, quickPlaces: 1 });
    const deps = { database: bed.database, limits, refresh: unchanged, scans, quickScans: scans };
    let endScan = () => {};
    const scan = scans.run(['other', 'p', 'a'], () => new Promise<void>((end) => (endScan = end)));
    const paging = { sort: '-d', limit: 5, offset: 0 } as const;
    const query: Query = { where: { d: 2 }, ...paging, who: 'key', isMine: false };
    const selection = select(withSlots, query);
    const page = { ...selection, ...paging, after: undefined, sort: parseSort('-d') };
    const lists = createLists({ ...deps, largeReads: scans, answers: scans });
    expect(await readItems(await lists.page(page, reader))).toHaveLength(1);
    expect(await createCounts(deps).count(selection, reader)).toEqual({ count: 1 });
    endScan();
    await scan;
  });

  it('are of one group alone where that is asked', async () => {
    const { withSlots } = await fill([{ d: 2 }, { d: 2 }], 'shared');
    const query: Query = {
      where: { d: 2 },
      sort: 'd',
      limit: 5,
      offset: 0,
      who: 'key',
      isMine: false,
    };
    const selection = { ...select(withSlots, query), groupId: ada };
    const page = { ...selection, limit: 5, offset: 0, after: undefined, sort: parseSort('d') };
    expect(await readItems(await readers.lists.page(page, reader))).toEqual([]);
    expect(await readers.counts.count(selection, reader)).toEqual({ count: 0 });
  });

  /** The groups, with sums of a field, the first and last of another, and the different values of a third. */
  const groups = async (collection: Collection, query: Query) => {
    const aggregation = parseAggregation({
      group: query.offset > 0 ? 'd,createdAt:week' : 'd',
      sum: 'a',
      min: 'b',
      max: 'b',
      distinct: 'c',
    });
    return readers.sums.groups(select(collection, query), aggregation, reader).then(
      (found) => found.groups,
      ({ message }: Error) => message,
    );
  };

  /** The ids of all pages, with where each ends. */
  const pages = async (collection: Collection, query: Asked, lists = readers.lists) => {
    const found: string[][] = [];
    let after: CursorPosition | undefined;
    do {
      const { limit, offset } = query;
      const page = await lists.page(
        {
          ...select(collection, query),
          limit,
          offset: after ? 0 : offset,
          after,
          sort: parseSort(query.sort),
        },
        reader,
      );
      found.push((await readItems<{ id: string }>(page)).map(({ id }) => id));
      after = page.hasMore ? (page.last ?? undefined) : undefined;
    } while (after);
    return found;
  };

  it('come by the index in a collection that is too large for a scan, also where long texts and arrays are among them', async () => {
    const texts = ['a', 'b', long, `${long}b`, `${long}a`, `${long}c`, 'ü', 'z'];
    const odd = [[], [{ b: 1 }], { b: [1] }, { b: {} }];
    const contents = Array.from({ length: 40 }, (_, i) => ({
      d: texts[(i * 3) % texts.length],
      a: i % 9 === 0 ? odd[(i / 9) % odd.length] : { b: i % 7 },
    }));
    const { withSlots, without } = await fill(contents, 'shared');
    const shares = cpuWork({ places: 1 });
    const few = createLists({
      database: bed.database,
      limits: { ...limits, scanRows: 39 },
      refresh: unchanged,
      scans: shares,
      quickScans: shares,
      largeReads: shares,
      answers: shares,
    });
    for (const sort of ['d', '-d', 'a.b', '-a.b', 'a.b,-d'] as const) {
      const query: Query = { where: {}, sort, limit: 3, offset: 0, who: 'key', isMine: false };
      await expect(pages(without, query, few)).rejects.toThrow(/more than 39/);
      expect(await pages(withSlots, query, few)).toEqual(await pages(without, query));
    }
  });

  /** What a caller sees by a rule on values, asked by one whom no rule binds. */
  const asFilter = ({ access, where: ofAll }: Ruled, query: Query): Asked => {
    const isAda = query.who === 'ada';
    const hasOwn = isAda && typeof access !== 'string' && access.read.includes('owner');
    const ofAda = parseFilter({ ownerId: ada });
    const admitted = [parseRuleFilter(ofAll), ...(hasOwn ? [ofAda] : [])];
    const mine = isAda && query.isMine ? [ofAda] : [];
    const rule: Filter = { kind: 'and', filters: [...mine, { kind: 'or', filters: admitted }] };
    return { ...query, who: 'key', rule };
  };

  it('are those without them, in the same order, on the same pages, and by rules those of filters', async () => {
    await fc.assert(
      fc.asyncProperty(
        records,
        accesses,
        fc.array(queries, { minLength: 25, maxLength: 25 }),
        async (contents, ruled, asked) => {
          const { access } = ruled;
          const { withSlots, without } = await fill(contents, access);
          for (const query of asked) {
            if (access === 'private' && query.who === 'anonymous') continue;
            expect([query, await pages(withSlots, query)]).toEqual([
              query,
              await pages(without, query),
            ]);
            const count = (collection: Collection) =>
              readers.counts.count(select(collection, query), reader);
            expect([query, await count(withSlots)]).toEqual([query, await count(without)]);
            expect([query, await groups(withSlots, query)]).toEqual([
              query,
              await groups(without, query),
            ]);
            if (!ruled.where || query.who === 'key') continue;
            const asked = asFilter(ruled, query);
            expect([query, await pages(withSlots, query)]).toEqual([
              query,
              await pages(without, asked),
            ]);
          }
        },
      ),
      { numRuns: 25, endOnFailure: true },
    );
    expect(bySlots).toBeGreaterThan(500);
    expect(byExactWalks).toBeGreaterThan(30);
    expect(byTies).toBeGreaterThan(10);
    expect(byBranches).toBeGreaterThan(10);
  });
});
