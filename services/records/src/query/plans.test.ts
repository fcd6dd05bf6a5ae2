import type { NamedStatement } from '@backlot/database';
import { asKey, asUser } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Access, resolveAccess } from '../collections/access.ts';
import { inCollection, type Parameters, recordJsonSql } from '../sql.ts';
import { ada, createTestBed, type TestBed } from '../testing/test-bed.ts';
import { parseWhere } from '../where/parse.ts';
import { countDriver, listDrivers } from './by-index/drivers.ts';
import { createExactWalks } from './by-index/exact-walks.ts';
import { slotCountStatement, slotListStatement } from './by-index/slot-statement.ts';
import { type ListQuery, listStatement } from './list-statement.ts';
import { createKeptStatements } from './prepared/kept-statements.ts';
import { smallListText } from './prepared/small-lists.ts';
import { scannedFor, splitFilter } from './selection.ts';
import { parseSort } from './sort.ts';

interface Plan {
  'Node Type': string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Actual Rows': number;
  /** 0 where it was not needed. */
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
  /** What a node of a Citus cluster does. */
  'Distributed Query'?: { Job: { Tasks: { 'Remote Plan': { Plan: Plan }[][] }[] } };
}

const split = (where: string | undefined) => splitFilter(parseWhere(where));

const remotePlans = (plan: Plan): Plan[] =>
  (plan['Distributed Query']?.Job.Tasks ?? []).flatMap((task) =>
    task['Remote Plan'].flat().map(({ Plan: remote }) => remote),
  );

const nodes = (plan: Plan): Plan[] => [
  plan,
  ...[...(plan.Plans ?? []), ...remotePlans(plan)].flatMap(nodes),
];

/** Without the number of a Citus shard. */
const indexName = (node: Plan) => node['Index Name']?.replace(/_\d+$/, '');

describe('plans', () => {
  let bed: TestBed;
  let someId: string;
  const limits = { scanRows: 100_000, pageBytes: 32 * 1024 * 1024 };
  const query: ListQuery = {
    collection: {
      projectNumber: 1,
      id: 1,
      name: 'x',
      access: 'shared',
      epoch: 1,
      slots: [],
      unique: [],
    },
    access: resolveAccess('shared', asKey()),
    filter: split(undefined),
    ownerId: undefined,
    sort: parseSort(),
    limit: 10,
    offset: 0,
    after: undefined,
  };

  /** Of the records of the large collection. */
  const numbers = Array.from({ length: 20_000 }, (_, i) => i + 1).filter(
    (n) => n % 4 !== 0 || n % 97 === 1,
  );

  /** A large collection between small ones, as the planner sees a shared table. */
  beforeAll(async () => {
    bed = await createTestBed();
    await bed.database.query(
      `INSERT INTO records (project_id, coll_id, id, created_at, updated_at, data, k1, k2, owner_id)
       SELECT CASE WHEN n % 4 = 0 THEN n % 97 ELSE 1 END, 1, uuidv7(), now(), now(), jsonb_build_object('n', n), to_jsonb(n),
         CASE WHEN n % 2000 = 1 THEN to_jsonb('${ada}'::text) ELSE 'null' END, CASE WHEN n % 2000 = 1 THEN '${ada}'::uuid END
       FROM generate_series(1, 20000) n`,
    );
    await bed.ownerDatabase.query('ANALYZE records');
    const [row] = await bed.database.query<{ id: string }>(
      'SELECT id FROM records WHERE project_id = 1 ORDER BY id OFFSET 7000 LIMIT 1',
    );
    someId = row?.id ?? '';
  });
  afterAll(() => bed.close());

  const literal = (value: unknown): string =>
    Array.isArray(value) ? `'{${value.join(',')}}'` : `'${value}'`;
  let prepared = 0;

  const explain = (text: string, values: readonly unknown[], mode = 'auto') =>
    bed.database.transaction(async () => {
      await bed.database.query(`SET LOCAL plan_cache_mode = ${mode}`);
      const name = `explained_${prepared++}`;
      // Only a prepared statement has a plan for all values.
      await bed.database.named(name, text, values);
      // Citus explains what is prepared in the form that the statement before was explained in.
      const explained = 'EXPLAIN (ANALYZE, FORMAT JSON, TIMING OFF)';
      await bed.database.query(`${explained} SELECT`);
      const [row] = await bed.database.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `${explained} EXECUTE ${name} (${values.map(literal).join(', ')})`,
      );
      if (!row) throw new Error('no plan');
      return nodes(row['QUERY PLAN'][0].Plan);
    });

  /** What a prepared statement may be planned as. Citus, which has no plans for all values, plans it each time. */
  const explainPrepared = async (text: string, values: readonly unknown[]) => {
    const modes = bed.isCluster ? ['auto'] : ['force_custom_plan', 'force_generic_plan'];
    const plans: Plan[][] = [];
    for (const mode of modes) plans.push(await explain(text, values, mode));
    return plans;
  };

  const expectShortWalk = (plan: Plan[], rows: number) => {
    const scans = plan.filter((node) => /Scan/.test(node['Node Type']) && node['Index Name']);
    expect(scans.map(indexName)).toEqual(['records_pkey']);
    expect(plan.map((node) => node['Node Type'])).not.toContain('Sort');
    for (const scan of scans) {
      expect(scan['Actual Rows']).toBeLessThanOrEqual(rows);
      expect(scan['Rows Removed by Filter'] ?? 0).toBe(0);
    }
  };

  const isPlannedOnce = ({ name, text, values }: NamedStatement, { database } = bed) =>
    database.transaction(async () => {
      for (let i = 0; i < 10; i++) await database.named(name, text, values);
      const [plans] = await database.query<{ generic: number }>(
        'SELECT generic_plans AS generic FROM pg_prepared_statements WHERE name = $1',
        [name],
      );
      return (plans?.generic ?? 0) > 0;
    });

  it('a record is one step in the primary key', async () => {
    const text = `SELECT ${recordJsonSql()} FROM records WHERE ${inCollection} AND id = $3`;
    for (const plan of await explainPrepared(text, [1, 1, someId])) expectShortWalk(plan, 1);
  });

  it.each([
    ['newest', {}],
    ['oldest', { sort: parseSort('createdAt') }],
    ['the page behind a cursor', { after: true }],
    ['the page behind a cursor, oldest first', { sort: parseSort('id'), after: true }],
    ['those of a time', { filter: split('{"createdAt":{"$lt":"2100-01-01"}}') }],
    ['those of a time without any', { filter: split('{"createdAt":{"$lt":"2020-01-01"}}') }],
  ])('%s are a short walk in the primary key', async (_, changes) => {
    const after = 'after' in changes ? { after: { keys: [], id: someId } } : {};
    const list = { ...query, ...changes, ...after } as ListQuery;
    const { text, values } = listStatement(list, limits);
    expect(scannedFor(list)).toBeUndefined();
    for (const plan of await explainPrepared(text, values)) expectShortWalk(plan, 11);
  });

  const limited = resolveAccess(
    { read: ['users'], create: [], change: [], fields: { note: { read: ['owner', 'shared'] } } },
    asUser(ada),
  );

  it.each([
    ['newest', query.access, {}],
    ['oldest', query.access, { sort: parseSort('createdAt') }],
    ['behind a cursor', query.access, { after: true }],
    ['with a field that the record decides on', limited, {}],
  ])(
    'prepared pages (%s) are planned once, as a short walk in the primary key',
    async (name, access, changes) => {
      const after = 'after' in changes ? { after: { keys: [], id: someId } } : {};
      const list = { ...query, ...changes, ...after, access } as ListQuery;
      const values = list.after ? [1, 1, 10, someId] : [1, 1, 10];
      const prepare = createKeptStatements('page');
      const write = (anyone: Access, parameters: Parameters) =>
        smallListText({ ...list, access: anyone }, limits, parameters);
      const statement = prepare(list, name, values, write);
      expect(await isPlannedOnce({ ...statement, name })).toBe(!bed.isCluster);
      for (const plan of await explainPrepared(statement.text, statement.values)) {
        const isOfShares = (node: Plan) => /^shares/.test(indexName(node) ?? '');
        expectShortWalk(
          plan.filter((node) => !isOfShares(node)),
          11,
        );
        // Hashed, it would read all that are shared with the user.
        expect(plan.some(isOfShares)).toBe(access === limited);
        for (const node of plan.filter(isOfShares))
          expect(node['Index Cond']).toMatch(/record_id = records[._0-9a-z]*id/);
      }
    },
  );

  it('lists of a table that was never analyzed walk along the primary key too', async () => {
    const plans = await bed.ownerDatabase.transaction(async () => {
      const sent = (text: string, values?: readonly unknown[]) =>
        bed.ownerDatabase.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(text, values);
      await sent('CREATE TEMP TABLE records (LIKE records.records INCLUDING ALL) ON COMMIT DROP');
      const columns = 'project_id, coll_id, id, created_at, updated_at, data';
      await sent(
        `INSERT INTO records (${columns}) SELECT ${columns} || jsonb_build_object('text', repeat('x', 1500)) FROM records.records`,
      );
      const texts = ['', '{"n":-1}'].map((where) =>
        listStatement({ ...query, filter: split(where || undefined) }, limits),
      );
      const rows = [];
      for (const { text, values } of texts)
        rows.push(...(await sent(`EXPLAIN (FORMAT JSON) ${text}`, values)));
      return rows.map((row) => nodes(row['QUERY PLAN'][0].Plan));
    });
    for (const plan of plans) {
      expect(plan.map((node) => node['Node Type'])).not.toContain('Sort');
      expect(plan.map((node) => node['Node Type'])).toContain('Index Scan');
    }
  });

  it('a filter that is often met is tried on no more records than a page needs', async () => {
    const filter = split('{"n":{"$gte":0}}');
    const { text, values } = listStatement({ ...query, filter }, limits);
    const scans = (await explain(text, values)).filter(
      (node) => node['Index Name'] && node['Actual Loops'] > 0,
    );
    expect(scans.map(indexName)).toEqual(['records_pkey']);
    expect(scans[0]?.['Actual Rows']).toBe(11);
  });

  it('ids are looked up, whatever else is asked', async () => {
    const filter = split(JSON.stringify({ id: { $in: [someId] }, n: { $gte: 0 } }));
    const { text, values } = listStatement({ ...query, filter, sort: parseSort('n') }, limits);
    const scans = (await explain(text, values)).filter((node) => node['Index Name']);
    for (const scan of scans) expect(scan['Actual Rows']).toBeLessThanOrEqual(1);
  });

  const indexed = {
    ...query,
    collection: {
      ...query.collection,
      slots: [{ number: 1, field: 'n', state: 'ready', distinctShare: 1 } as const],
    },
  };
  const owned = { number: 2, field: 'ownerId', state: 'ready', distinctShare: 0.1 } as const;

  const nested = { number: 1, field: 'deep.n', state: 'ready', distinctShare: 1 } as const;
  const aboveTen = { filter: split('{"n":{"$gt":10}}') };
  const eitherSlot = {
    filter: split(JSON.stringify({ $or: [{ n: 5000 }, { ownerId: ada }] })),
    collection: { ...indexed.collection, slots: [...indexed.collection.slots, owned] },
  };

  const walk = createExactWalks(limits);

  it.each([
    ['of a value', { filter: split('{"n":5000}') }, 1],
    ['sorted', { sort: parseSort('-n') }, 11],
    [
      'of a range, sorted',
      { filter: split('{"n":{"$gte":9000,"$lt":9400}}'), sort: parseSort('n') },
      11,
    ],
    ['of one user', { ownerId: ada, collection: { ...indexed.collection, slots: [owned] } }, 10],
    [
      'behind a cursor',
      { sort: parseSort('n'), after: { keys: [{ text: '9000', isCut: false }], id: ada } },
      11,
    ],
  ])(
    'prepared lists %s are planned once, as a short walk in one slot’s index',
    async (_, changes, most) => {
      const statement = walk({ ...indexed, ...changes } as ListQuery);
      if (!statement) throw new Error('no statement');
      expect(await isPlannedOnce(statement)).toBe(!bed.isCluster);
      for (const plan of await explainPrepared(statement.text, statement.values)) {
        const scans = plan.filter(
          (node) => node['Index Name'] && indexName(node) !== 'collections_pkey',
        );
        for (const scan of scans) {
          expect(indexName(scan)).toBe(`records_k${statement.slot.number}`);
          expect(scan['Actual Rows']).toBeLessThanOrEqual(most);
          expect(scan['Rows Removed by Filter'] ?? 0).toBe(0);
        }
        expect(scans.length).toBeGreaterThan(0);
      }
    },
  );

  it('prepared lists are planned once, also where a table has one project alone', async () => {
    const single = await createTestBed();
    try {
      await single.database.query(
        `INSERT INTO records (project_id, coll_id, id, created_at, updated_at, data, k1)
         SELECT 1, 1, uuidv7(), now(), now(), '{}', to_jsonb(n % 1000) FROM generate_series(1, 200000) n`,
      );
      await single.ownerDatabase.query('ANALYZE records');
      const lists = [
        { filter: split('{"n":500}') },
        { filter: split('{"n":{"$gte":1,"$lt":2}}'), sort: parseSort('n') },
      ];
      for (const changes of lists) {
        const statement = walk({ ...indexed, ...changes });
        if (!statement) throw new Error('no statement');
        expect(await isPlannedOnce(statement, single)).toBe(!single.isCluster);
      }
    } finally {
      await single.close();
    }
  });

  it.each([
    ['of a value', { filter: split('{"n":5000}') }],
    ['sorted', { sort: parseSort('-n') }],
    [
      'of a range, sorted',
      { filter: split('{"n":{"$gte":9000,"$lt":9400}}'), sort: parseSort('n') },
    ],
    ['of a few values', { filter: split('{"n":{"$in":[1,2,3]}}') }],
    ['of one user', { ownerId: ada, collection: { ...indexed.collection, slots: [owned] } }],
    [
      'behind a cursor',
      { sort: parseSort('n'), after: { keys: [{ text: '9000', isCut: false }], id: ada } },
    ],
    ['sorted by two fields', { sort: parseSort('-n,text') }],
    [
      'sorted by two fields, behind a cursor',
      { sort: parseSort('n,-text'), after: { keys: [{ text: '9000', isCut: false }], id: ada } },
    ],
    ['of a range, whose ties go the other way', { ...aboveTen, sort: parseSort('n,-createdAt') }],
    [
      'sorted by a nested field',
      { collection: { ...indexed.collection, slots: [nested] }, sort: parseSort('-deep.n') },
    ],
    ['of either of two slots', { ...eitherSlot }],
    ['of either of two slots, sorted', { ...eitherSlot, sort: parseSort('text') }],
  ])(
    'lists %s read each slot’s index once and no more than they show, the 20th time too',
    async (_, changes) => {
      const list = { ...indexed, ...changes } as ListQuery;
      const [driver] = listDrivers(list);
      if (!driver) throw new Error('no driver');
      const statement = slotListStatement(list, driver, limits, { rows: 1000, ms: 60_000 });
      const plan = await bed.database.transaction(async () => {
        for (let i = 0; i < 20; i++) await bed.database.query(statement.text, statement.values);
        return explain(statement.text, statement.values);
      });
      const scans = plan.filter((node) => /Scan/.test(node['Node Type']) && node['Index Name']);
      const names = new Set(scans.map(indexName));
      names.delete('collections_pkey');
      expect([...names].sort()).toEqual(driver.ways.map(({ slot }) => `records_k${slot.number}`));
      for (const scan of scans) {
        expect(scan['Actual Rows']).toBeLessThanOrEqual(12);
        expect(scan['Rows Removed by Filter'] ?? 0).toBe(0);
      }
    },
  );

  it.each<[string, string, (n: number) => boolean]>([
    ['of a value', '{"n":5001}', (n) => n === 5001],
    ['of a few values', '{"n":{"$in":[5001,5002,5003]}}', (n) => n >= 5001 && n <= 5003],
    ['from a value on', '{"n":{"$gte":9000}}', (n) => n >= 9000],
    ['between two values', '{"n":{"$gte":5001,"$lt":5009}}', (n) => n >= 5001 && n < 5009],
    ['of a third', '{"n":{"$gt":10,"$lte":8000}}', (n) => n > 10 && n <= 8000],
  ])('counts %s look at keys in the slot’s index alone', async (_, where, isCounted) => {
    const count = numbers.filter(isCounted).length;
    const selection = { ...indexed, filter: split(where) };
    const driver = countDriver(selection);
    if (!driver) throw new Error('no driver');
    // No document may be looked at.
    const { text, values } = slotCountStatement(selection, driver, { rows: 0, ms: 60_000 }, 20_000);
    expect(await bed.database.query(text, values)).toMatchObject([{ count, unfinished: false }]);
    const scans = (await explain(text, values)).filter((node) => indexName(node) === 'records_k1');
    const ofKeys = scans.filter((node) => node['Node Type'] === 'Index Only Scan');
    expect(ofKeys.reduce((sum, node) => sum + node['Actual Rows'], 0)).toBe(count);
    for (const scan of scans) if (!ofKeys.includes(scan)) expect(scan['Actual Rows']).toBe(0);
  });
});
