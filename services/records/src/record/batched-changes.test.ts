import type { Database } from '@backlot/database';
import { cpuWork } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';
import {
  anonymous,
  asKey,
  asUser,
  createTestClock,
  findOtherNodes,
  testProject,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resolveAccess } from '../collections/access.ts';
import type { Collection } from '../collections/collections.ts';
import { clusterProblems, readCatalog } from '../testing/cluster-rules.ts';
import {
  ada,
  bob,
  checksWithout,
  createTestBed,
  type TestBed,
  unchanged,
} from '../testing/test-bed.ts';
import { checkData } from './data.ts';
import { parsePatch } from './patch.ts';
import { createQuota } from './quota/quota.ts';
import { createRecords, type Records } from './records.ts';

type PatchBody = Parameters<typeof parsePatch>[0];

const key = asKey();
const absent = '018f0000-0000-7000-8000-00000000ffff';

describe('changes that come together', () => {
  let bed: TestBed;
  let records: Records;
  /** With the values of the last one. */
  const statements = new Map<string, readonly unknown[] | undefined>();
  /** The number of rows of each statement. */
  let sent: number[] = [];
  const collection: Collection = {
    projectNumber: testProject.number,
    id: 1,
    name: 'notes',
    access: 'public-read',
    epoch: 1,
    unique: [],
    slots: [{ number: 1, field: 'n', state: 'ready', distinctShare: 1 }],
  };

  beforeAll(async () => {
    bed = await createTestBed();
    const database: Database = {
      ...bed.database,
      async named<Row>(name: string, text: string, values?: readonly unknown[]) {
        const rows = await bed.database.named<Row>(name, text, values);
        statements.set(text, values);
        sent.push(rows.length);
        return rows;
      },
    };
    const unlimited = { records: 1e9, bytes: 1e9 };
    const limits = { project: unlimited, owner: unlimited };
    // The first change of a project waits for its totals. As the clock stands, no later one does.
    const { now } = createTestClock({ stands: true });
    const quota = createQuota({ database, limits, now });
    await quota.totals(testProject);
    const [largeReads, answers] = [cpuWork({ places: 1 }), cpuWork({ places: 1 })];
    const checks = checksWithout(database);
    const deps = {
      database,
      quota,
      refresh: unchanged,
      checks,
      largeReads,
      answers,
      now: Date.now,
    };
    records = createRecords(deps);
  });
  afterAll(() => bed.close());

  const make = async (count: number, data: object = { n: 0 }, owner: Identity = asUser(ada)) => {
    const made = await Promise.all(
      Array.from({ length: count }, () => bed.create('notes', data, owner)),
    );
    return made.map(({ id }) => id).sort();
  };
  const target = (id: string, identity: Identity, access = collection.access) => ({
    project: testProject,
    collection: { ...collection, access },
    id,
    access: resolveAccess(access, identity),
  });
  const patch = async (
    id: string,
    body: PatchBody,
    { identity = key, versions }: { identity?: Identity; versions?: number[] } = {},
  ) => {
    const { pieces, version } = await records.patch(
      target(id, identity),
      parsePatch(body),
      versions,
    );
    return { ...JSON.parse(pieces.join('')), version };
  };
  /** What each promise came to: the record, or the code of its refusal. */
  const settle = async (changes: readonly Promise<{ n?: unknown }>[]) =>
    (await Promise.allSettled(changes)).map((result) =>
      result.status === 'fulfilled' ? result.value.n : result.reason.code,
    );
  const read = async (id: string) =>
    (await bed.call('GET', `/db/notes/${id}`, { identity: key })).body;
  const stored = async (ids: readonly string[]) =>
    bed.ownerDatabase.query<{ k1: unknown; bytes: number; counted: number }>(
      `SELECT k1, (SELECT sum(size_bytes)::int FROM records WHERE project_id = $1) AS bytes,
         ((SELECT byte_count FROM collections WHERE project_id = $1)
           + (SELECT coalesce(sum(bytes), 0) FROM count_delta WHERE project_id = $1))::int AS counted
       FROM records WHERE project_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id`,
      [testProject.number, ids],
    );

  it('are one statement, each with its own fields, slots and answer', async () => {
    const ids = await make(5);
    sent = [];
    const answers = await Promise.all(
      ids.map((id, n) => patch(id, { data: { n: n + 1, at: id } })),
    );
    expect(answers).toEqual(
      ids.map((id, n) => expect.objectContaining({ id, ownerId: ada, n: n + 1, at: id })),
    );
    expect(sent).toEqual([5]);
    for (const [n, { version, ...record }] of answers.entries()) {
      expect(await read(ids[n] ?? '')).toEqual(record);
      expect(new Date(record.updatedAt).getTime()).toBe(version);
    }
    const rows = await stored(ids);
    expect(rows.map(({ k1 }) => k1)).toEqual([1, 2, 3, 4, 5]);
    expect(rows[0]?.counted).toBe(rows[0]?.bytes);
  });

  it('add to numbers, and replace whole documents', async () => {
    const ids = await make(4, { n: 0.1, was: 1 });
    const changes = ids.map((id, n) => patch(id, { inc: { n: 0.2, more: n }, data: { s: 'x' } }));
    const sums = await Promise.all(changes);
    expect(sums.map(({ n, more, s }) => [n, more, s])).toEqual(
      ids.map((_, n) => [0.3, n, 'x'] as const),
    );
    sent = [];
    const replaced = await Promise.all(
      ids.map((id, n) => records.replace(target(id, key), checkData({ n }), undefined)),
    );
    expect(sent).toEqual([4]);
    expect(replaced.map(({ pieces }) => Object.keys(JSON.parse(pieces.join(''))).at(-1))).toEqual(
      ids.map(() => 'n'),
    );
    expect((await stored(ids)).map(({ k1 }) => k1)).toEqual([0, 1, 2, 3]);
  });

  it('of one record are one after the other, and lose nothing', async () => {
    const [often = '', ...others] = await make(4);
    const changes = Array.from({ length: 500 }, (_, i) =>
      patch(i % 5 === 4 ? (others[i % 3] ?? '') : often, { inc: { n: 1 } }),
    );
    const answers = await Promise.all(changes);
    expect((await read(often)).n).toBe(400);
    expect(new Set(answers.filter(({ id }) => id === often).map(({ n }) => n)).size).toBe(400);
    const rest = await Promise.all(others.map(read));
    expect(rest.map(({ n }) => n).reduce((sum, n) => sum + n, 0)).toBe(100);
  });

  it('of several callers change what each of them may', async () => {
    const ids = [...(await make(2)), ...(await make(2, { n: 0 }, asUser(bob)))];
    sent = [];
    const as = (id: string, identity: Identity) => patch(id, { data: { n: 1 } }, { identity });
    const [first = '', second = '', third = '', fourth = ''] = ids;
    const changes = [
      as(first, asUser(ada)),
      as(second, asUser(bob)),
      as(third, asUser(bob)),
      as(fourth, asUser(ada)),
      as(absent, asUser(ada)),
    ];
    expect(await settle(changes)).toEqual([1, 'forbidden', 1, 'forbidden', 'not_found']);
    expect(sent[0]).toBe(2);
    expect((await Promise.all(ids.map(read))).map(({ n }) => n)).toEqual([1, 0, 1, 0]);
  });

  it('fail alone, each for its own reason', async () => {
    const ids = await make(8);
    const [first = '', second = '', third = '', fourth = '', fifth = '', text = ''] = ids;
    await patch(text, { data: { n: 'x' } });
    const { version } = await patch(first, { data: { n: 1 } });
    const manyKeys = (prefix: string) =>
      Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`${prefix}${n}`, n]));
    await patch(fifth, { data: manyKeys('a') });
    sent = [];
    const changes = [
      patch(first, { data: { n: 2 } }, { versions: [version] }),
      patch(second, { data: { n: 2 } }, { versions: [version - 1] }),
      patch(third, { data: { n: 2 } }),
      patch(fourth, { data: { n: 2 } }, { identity: anonymous() }),
      patch(fifth, { data: manyKeys('b') }),
      patch(text, { inc: { n: 1 } }),
      patch(ids[6] ?? '', { inc: { n: 1.7e308 } }),
      patch(ids[7] ?? '', { inc: { n: 3 } }),
    ];
    expect(await settle(changes)).toEqual([
      2,
      'precondition_failed',
      2,
      'unauthenticated',
      'invalid_data',
      'invalid_data',
      1.7e308,
      3,
    ]);
    const beyond = [ids[6] ?? '', ids[7] ?? ''].map((id) => patch(id, { inc: { n: 1.7e308 } }));
    expect(await settle(beyond)).toEqual(['invalid_data', 1.7e308]);
  });

  it('wait for nobody who changes another one of them', async () => {
    const ids = await make(3);
    const [locked = '', ...free] = ids;
    let isOver = false;
    let rest: Promise<unknown> | undefined;
    await bed.ownerDatabase.transaction(async () => {
      await bed.ownerDatabase.query(
        'SELECT FROM records WHERE project_id = $1 AND id = $2 FOR UPDATE',
        [testProject.number, locked],
      );
      const changes = ids.map((id) => patch(id, { data: { n: 7 } }));
      rest = changes[0]?.then(() => {
        isOver = true;
      });
      expect(await settle(changes.slice(1))).toEqual([7, 7]);
      expect(isOver).toBe(false);
    });
    await rest;
    expect((await Promise.all([locked, ...free].map(read))).map(({ n }) => n)).toEqual([7, 7, 7]);
  });

  it('are one statement, as creates are, while the other nodes of a cluster are away', async () => {
    const ids = await make(3);
    const { number } = testProject;
    const others = await findOtherNodes(bed.databaseUrl, 'records.records', number);
    await others.leave();
    sent = [];
    const access = resolveAccess(collection.access, key);
    try {
      await Promise.all(ids.map((id) => patch(id, { data: { n: 1 } })));
      await Promise.all(
        ids.map(() => records.create(testProject, collection, access, checkData({ n: 1 }))),
      );
    } finally {
      await others.comeBack();
    }
    // A row for each change, and one of all creates.
    expect(sent).toEqual([3, 1]);
  });

  const batchedStatements = () => {
    const found = [...statements].filter(([text]) => text.includes('SKIP LOCKED'));
    expect(found.length).toBeGreaterThanOrEqual(4);
    return found;
  };

  it('find their records by id, whatever a plan takes for the size of a collection', async () => {
    const { ownerDatabase, isCluster } = bed;
    await ownerDatabase.transaction(async () => {
      // So that what is set reaches the other nodes of a cluster, which has no plans for all values.
      await ownerDatabase.query(`SET LOCAL citus.propagate_set_commands = 'local'`);
      await ownerDatabase.query('SET LOCAL enable_seqscan = off');
      for (const [text, values] of batchedStatements()) {
        const rows = isCluster
          ? await ownerDatabase.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values)
          : await ownerDatabase.query<{ 'QUERY PLAN': string }>(`EXPLAIN (GENERIC_PLAN) ${text}`);
        const lines = rows.map((row) => row['QUERY PLAN']);
        const scans = lines.flatMap((line, n) =>
          / on records(_\d+ records(_1)?)?( |$)/.test(line) && !/Update on/.test(line)
            ? [lines[n + 1]]
            : [],
        );
        expect(scans).toEqual(
          Array(2).fill(expect.stringMatching(/(Index|Recheck) Cond: .*\bid = /)),
        );
      }
    });
  });

  it('are statements that a Citus cluster takes', async () => {
    const catalog = await readCatalog(bed.ownerDatabase);
    expect([...statements.keys()]).toContainEqual(expect.stringContaining('made(row_id'));
    for (const text of statements.keys()) expect(await clusterProblems(text, catalog)).toEqual([]);
  });
});
