import type { Database } from '@backlot/database';
import { cpuWork, toRequester } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resolveAccess } from '../collections/access.ts';
import type { Collection } from '../collections/collections.ts';
import { maxPipelinedBytes } from '../sql.ts';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';
import { createReadRecord } from './read-record.ts';

const key = asKey();
const rules = { read: ['anyone'], create: ['users'], change: ['owner'] };
const absent = '018f0000-0000-7000-8000-00000000ffff';

describe('reads that come together', () => {
  let bed: TestBed;
  /** The number of rows of each statement. */
  let sent: number[] = [];
  const statements = new Map<string, readonly unknown[] | undefined>();
  let read: ReturnType<typeof createReadRecord>;

  beforeAll(async () => {
    bed = await createTestBed();
    const database: Database = {
      ...bed.database,
      async read(name, text, values) {
        const rows = await bed.database.read(name, text, values);
        statements.set(text, values);
        sent.push(rows.length);
        return rows;
      },
    };
    const [largeReads, answers] = [cpuWork({ places: 1 }), cpuWork({ places: 1 })];
    read = createReadRecord({ database, largeReads, answers });
  });
  afterAll(() => bed.close());

  const make = (count: number, owner: Identity, data: object = {}) =>
    Promise.all(
      Array.from({ length: count }, async (_, n) => {
        const { id } = await bed.create('notes', { n, ...data }, owner);
        return id;
      }),
    );
  const get = async (
    id: string,
    identity: Identity = key,
    access: Collection['access'] = 'public-read',
    elsewhere: Partial<Collection> = {},
  ) => {
    const collection: Collection = {
      projectNumber: testProject.number,
      id: 1,
      name: 'notes',
      access,
      epoch: 1,
      unique: [],
      slots: [],
      ...elsewhere,
    };
    const target = {
      project: testProject,
      collection,
      id,
      access: resolveAccess(access, identity),
    };
    const { json, version, release } = await read(target, { requester: toRequester(identity) });
    release?.();
    return { ...JSON.parse(json.toString()), version };
  };
  /** What each promise came to: the record's `n`, or the code of its refusal. */
  const settle = async (reads: readonly Promise<{ n?: unknown }>[]) =>
    (await Promise.allSettled(reads)).map((result) =>
      result.status === 'fulfilled' ? result.value.n : result.reason.code,
    );

  it('are one statement, and each gets its own record', async () => {
    const ids = await make(4, asUser(ada));
    const alone = [];
    for (const id of ids) alone.push(await get(id));
    expect(alone.map(({ id, n, ownerId }) => [id, n, ownerId])).toEqual(
      ids.map((id, n) => [id, n, ada]),
    );
    sent = [];
    const together = [...ids, ids[0] ?? ''].map((id) => get(id));
    expect(await Promise.all(together)).toEqual([...alone, alone[0]]);
    expect(sent).toEqual([4]);
  });

  it('find an id in capitals, and nothing where no record has it or what is sent is none', async () => {
    const [id = ''] = await make(1, asUser(ada));
    sent = [];
    const codes = await settle([id.toUpperCase(), absent, 'no id', id].map((each) => get(each)));
    expect(codes).toEqual([0, 'not_found', 'not_found', 0]);
    expect(sent).toEqual([1]);
  });

  it('are at most 16 to a statement', async () => {
    const ids = await make(20, asUser(ada));
    sent = [];
    expect(await settle(ids.map((id) => get(id)))).toEqual(ids.map((_, n) => n));
    expect(sent.sort()).toEqual([16, 4]);
  });

  it('see what their own callers may see, and no more', async () => {
    const [adas = ''] = await make(1, asUser(ada));
    const [bobs = ''] = await make(1, asUser(bob), { n: 1 });
    const both = [adas, bobs];
    for (const access of ['private' as const, { ...rules, read: ['owner', 'shared'] }]) {
      const codes = await settle([
        ...both.map((id) => get(id, asUser(ada), access)),
        ...both.map((id) => get(id, asUser(bob), access)),
        ...both.map((id) => get(id, anonymous(), access)),
        ...both.map((id) => get(id, key, access)),
      ]);
      expect(codes.slice(0, 4)).toEqual([0, 'not_found', 'not_found', 1]);
      expect(codes.slice(4, 6)).not.toContainEqual(expect.any(Number));
      expect(codes.slice(6)).toEqual([0, 1]);
    }
  });

  it('find nothing of another project or collection', async () => {
    const [id = ''] = await make(1, asUser(ada));
    const places = [{}, { projectNumber: testProject.number + 1 }, { id: 2 }];
    const reads = [...places, ...places].map((place) => get(id, key, 'public-read', place));
    const codes = [0, 'not_found', 'not_found'];
    expect(await settle(reads)).toEqual([...codes, ...codes]);
  });

  it('hide fields from those who may not see them', async () => {
    const ids = await make(2, asUser(ada), { secret: 's' });
    const access = { ...rules, fields: { secret: { read: ['owner'] } } };
    const reads = [asUser(ada), asUser(bob)].flatMap((who) =>
      ids.map((id) => get(id, who, access)),
    );
    const secrets = (await Promise.all(reads)).map(({ secret }) => secret);
    expect(secrets).toEqual(['s', 's', undefined, undefined]);
  });

  it('have a large record read by itself', async () => {
    const [small = ''] = await make(1, asUser(ada));
    const text = 'x'.repeat(maxPipelinedBytes + 1);
    const [large = ''] = await make(1, asUser(ada), { n: 1, text });
    sent = [];
    const answers = await Promise.all([get(small), get(large), get(small)]);
    expect(answers.map(({ n, text }) => [n, text?.length])).toEqual([
      [0, undefined],
      [1, text.length],
      [0, undefined],
    ]);
    expect(sent).toEqual([2]);
  });

  it('find their records by id, with one plan for however many', async () => {
    const together = [...statements].filter(([text]) => text.includes(' id IN ('));
    expect(together.length).toBeGreaterThanOrEqual(4);
    const { database, isCluster } = bed;
    for (const [n, [text, values]] of together.entries())
      await database.transaction(async () => {
        // As it is on the connections of reads; the first has it reach the nodes of a cluster.
        await database.query(`SET LOCAL citus.propagate_set_commands = 'local'`);
        await database.query('SET LOCAL enable_seqscan = off');
        const name = `together_${n}`;
        for (let times = 0; times < 10; times++) await database.named(name, text, values);
        const [kept] = await database.query<{ generic: number }>(
          'SELECT generic_plans AS generic FROM pg_prepared_statements WHERE name = $1',
          [name],
        );
        // A cluster's coordinator has plans of another kind, which name no index.
        if (!isCluster) expect(kept?.generic).toBeGreaterThan(0);
        const rows = isCluster
          ? await database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values)
          : await database.query<{ 'QUERY PLAN': string }>(`EXPLAIN (GENERIC_PLAN) ${text}`);
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        expect(plan).toMatch(/(Index|Recheck) Cond: .*\bid = ANY/);
      });
  });
});
