import { asKey } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resolveAccess } from '../collections/access.ts';
import { listDrivers } from '../slots/drivers.ts';
import { slotListStatement } from '../slots/slot-statement.ts';
import { inCollection, recordJsonSql } from '../sql.ts';
import { ada, createTestBed, type TestBed } from '../testing/test-bed.ts';
import { parseWhere } from '../where/parse.ts';
import { type ListQuery, listStatement, scannedFor } from './list-statement.ts';
import { splitFilter } from './selection.ts';
import { parseSort } from './sort.ts';

interface Plan {
  'Node Type': string;
  'Index Name'?: string;
  'Actual Rows': number;
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
    collection: { projectNumber: 1, id: 1, name: 'x', access: 'shared', epoch: 1, slots: [] },
    access: resolveAccess('shared', asKey()),
    filter: split(undefined),
    ownerId: undefined,
    sort: parseSort(),
    limit: 10,
    offset: 0,
    after: undefined,
  };

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

  const explain = (text: string, values: readonly unknown[], mode = 'auto') =>
    bed.database.transaction(async () => {
      await bed.database.query(`SET LOCAL plan_cache_mode = ${mode}`);
      const [row] = await bed.database.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON, TIMING OFF) ${text}`,
        values,
      );
      if (!row) throw new Error('no plan');
      return nodes(row['QUERY PLAN'][0].Plan);
    });

  const expectShortWalk = (plan: Plan[], rows: number) => {
    const scans = plan.filter((node) => /Scan/.test(node['Node Type']) && node['Index Name']);
    expect(scans.map(indexName)).toEqual(['records_pkey']);
    expect(plan.map((node) => node['Node Type'])).not.toContain('Sort');
    for (const scan of scans) {
      expect(scan['Actual Rows']).toBeLessThanOrEqual(rows);
      expect(scan['Rows Removed by Filter'] ?? 0).toBe(0);
    }
  };

  it.each(['force_custom_plan', 'force_generic_plan'])(
    'a record is one step in the primary key (%s)',
    async (mode) => {
      const text = `SELECT ${recordJsonSql()} FROM records WHERE ${inCollection} AND id = $3`;
      expectShortWalk(await explain(text, [1, 1, someId], mode), 1);
    },
  );

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
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      expectShortWalk(await explain(text, values, mode), 11);
    }
  });

  it('a filter that is often met is tried on no more records than a page needs', async () => {
    const filter = split('{"n":{"$gte":0}}');
    const { text, values } = listStatement({ ...query, filter }, limits);
    const scans = (await explain(text, values)).filter((node) => node['Index Name']);
    expect(scans.map(indexName)[0]).toBe('records_pkey');
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
  ])(
    'lists %s read one slot’s index and no more than they show, the 20th time too',
    async (_, changes) => {
      const list = { ...indexed, ...changes } as ListQuery;
      const [driver] = listDrivers(list);
      if (!driver) throw new Error('no driver');
      const statement = slotListStatement(list, driver, limits, { rows: 1000, ms: 60_000 });
      if (!statement) throw new Error('no statement');
      const plan = await bed.database.transaction(async () => {
        for (let i = 0; i < 20; i++) await bed.database.query(statement.text, statement.values);
        return explain(statement.text, statement.values);
      });
      const scans = plan.filter((node) => /Scan/.test(node['Node Type']) && node['Index Name']);
      const names = new Set(scans.map((node) => node['Index Name']));
      names.delete('collections_pkey');
      expect([...names]).toEqual([`records_k${driver.slot.number}`]);
      for (const scan of scans) {
        expect(scan['Actual Rows']).toBeLessThanOrEqual(11);
        expect(scan['Rows Removed by Filter'] ?? 0).toBe(0);
      }
    },
  );
});
