import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asOwner, createTestClock, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { eraseProject } from '../../erasure/erase-project.ts';
import { createTestBed, type TestBed } from '../../testing/test-bed.ts';
import { createQuota } from './quota.ts';
import { countCollections, foldTotals } from './totals.ts';

const MB = 1_000_000;
const project = { records: 10, bytes: MB };
const owner = { records: 15, bytes: 1.5 * MB };
const letters = (count: number) => 'x'.repeat(count);
const quotaReached = { status: 403, body: { code: 'quota_reached' } };

describe('the quota of records', () => {
  let bed: TestBed;
  let projects = 5000;
  beforeAll(async () => {
    // Whatever time a slow machine takes, no process looks at the totals anew.
    const clock = createTestClock({ stands: true });
    bed = await createTestBed({}, { project, owner }, { clock });
  });
  afterAll(() => bed.close());

  const newProject = (ownerId: string | null = `owner of ${projects + 1}`) => {
    const number = ++projects;
    return anonymous({ project: { ...testProject, id: `p${number}`, number, ownerId } });
  };
  const post = (identity: Identity, data: object = {}) =>
    bed.call('POST', '/db/notes', { identity, body: { data } });
  const collections = async ({ project: { id, ...rest } }: Identity) => {
    const identity = asOwner({ project: { id, ...rest }, userId: rest.ownerId });
    const path = `/platform/projects/${id}/collections`;
    return (await bed.call('GET', path, { identity })).body;
  };

  it('refuses a record too many, until one is deleted', async () => {
    const identity = newProject();
    const made = [];
    for (let i = 0; i < project.records; i++) made.push((await post(identity)).body);
    expect(await post(identity)).toMatchObject(quotaReached);
    expect((await bed.call('GET', '/db/notes', { identity })).body.items).toHaveLength(10);
    const path = `/db/notes/${made[0].id}`;
    const patched = await bed.call('PATCH', path, { identity, body: { data: { grown: 1 } } });
    expect(patched.status).toBe(200);
    expect((await bed.call('DELETE', path, { identity })).status).toBe(200);
    expect((await post(identity)).status).toBe(201);
    expect(await post(identity)).toMatchObject(quotaReached);
  });

  it('refuses bytes too many; what does not grow goes on', async () => {
    const identity = newProject();
    const { body: made } = await post(identity, { text: letters(900_000) });
    const path = `/db/notes/${made.id}`;
    expect(await post(identity, { text: letters(100_000) })).toMatchObject(quotaReached);
    const change = (method: string, body: object, headers = {}) =>
      bed.call(method, path, { identity, body, headers });
    const larger = { data: { more: letters(100_000) } };
    expect(await change('PATCH', larger)).toMatchObject(quotaReached);
    expect(await change('PUT', { data: { text: letters(1_000_000) } })).toMatchObject(quotaReached);
    // What else is wrong with a change is said first.
    const oldVersion = { 'if-match': '"0"' };
    expect((await change('PATCH', larger, oldVersion)).status).toBe(412);
    expect(await change('PATCH', { ...larger, inc: { text: 1 } })).toMatchObject({
      status: 400,
      body: { code: 'invalid_data' },
    });

    const room = 1_000_000 - 900_000 - '{"text": ""}'.length;
    const full = { data: { text: letters(900_000 + room) } };
    expect((await change('PUT', full)).status).toBe(200);
    expect(await collections(identity)).toMatchObject({ totalBytes: MB });
    expect(await change('PATCH', { inc: { n: 1 } })).toMatchObject(quotaReached);
    expect((await change('PUT', full)).status).toBe(200);
    expect((await change('PATCH', { data: { text: letters(1000) } })).status).toBe(200);
    expect((await change('PATCH', { inc: { n: 1 } })).status).toBe(200);
    expect((await post(identity, { text: letters(100_000) })).status).toBe(201);
  });

  it('counts all projects of an owner together, and nobody else’s', async () => {
    const [first, second, third] = ['one', 'one', 'other'].map(newProject) as [
      Identity,
      Identity,
      Identity,
    ];
    for (let i = 0; i < 10; i++) expect((await post(first)).status).toBe(201);
    for (let i = 0; i < 5; i++) expect((await post(second)).status).toBe(201);
    const refused = await post(second);
    expect(refused).toMatchObject(quotaReached);
    expect(refused.body.error).toContain('all apps of this owner');
    expect((await post(third)).status).toBe(201);
    expect(await collections(second)).toMatchObject({
      totalRecords: 5,
      quotaRecords: 10,
      owner: {
        totalRecords: 15,
        quotaRecords: 15,
        totalBytes: 15 * '{}'.length,
        quotaBytes: 1.5 * MB,
      },
    });
    // Given to another owner, the project counts there.
    const given = { ...second, project: { ...second.project, ownerId: 'other' } };
    expect((await post(given)).status).toBe(201);
  });

  it('shows nobody’s projects together where a project has no owner', async () => {
    const { project } = newProject(null);
    const path = `/platform/projects/${project.id}/collections`;
    const { body } = await bed.call('GET', path, { identity: asKey({ project }) });
    expect(body).toMatchObject({ totalRecords: 0, owner: null });
  });

  it('holds for writers at once, to the record', async () => {
    const identity = newProject();
    const answers = await Promise.all(Array.from({ length: 40 }, () => post(identity)));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(30);
    for (const answer of refused) expect(answer).toMatchObject(quotaReached);
    expect(await collections(identity)).toMatchObject({ totalRecords: 10, quotaRecords: 10 });
  });

  it('holds for writers in the same moment', async () => {
    const { project: its } = newProject();
    const limits = { project, owner };
    const quota = createQuota({ database: bed.database, limits, now: bed.clock.now });
    let end = () => {};
    const held = new Promise<void>((resolve) => {
      end = resolve;
    });
    let begun = 0;
    let refused = 0;
    const write = () => {
      begun += 1;
      return held;
    };
    const add = () =>
      quota.add(its, { records: 1, bytes: 1 }, write).catch(() => {
        refused += 1;
      });
    await quota.totals(its);
    const added = Array.from({ length: 20 }, add);
    await until(async () => begun + refused === 20);
    end();
    await Promise.all(added);
    expect([begun, refused]).toEqual([10, 10]);
  });

  it('is exceeded by no more than further processes had room for when they looked', async () => {
    const { database } = bed;
    const identity = newProject();
    await post(identity);
    const { project: its } = identity;
    const processes = [1, 2].map(() =>
      createQuota({ database, limits: { project, owner }, now: () => 0 }),
    );
    for (const quota of processes) await quota.totals(its);
    const write = () =>
      database.query(
        'INSERT INTO count_delta (project_id, coll_id, d, bytes) VALUES ($1, 1, 1, 1)',
        [its.number],
      );
    const admitted = [];
    for (const quota of processes) {
      const growth = { records: 1, bytes: 1 };
      const writes = Array.from({ length: 20 }, () => quota.add(its, growth, write));
      const results = await Promise.allSettled(writes);
      admitted.push(results.filter(({ status }) => status === 'fulfilled').length);
    }
    expect(admitted).toEqual([9, 9]);
  });

  it('holds with an Idempotency-Key, and what is rolled back does not count', async () => {
    const identity = newProject();
    const keyed = (key: string, data: object) =>
      bed.call('POST', '/db/notes', {
        identity,
        body: { data },
        headers: { 'idempotency-key': key },
      });
    for (let i = 0; i < 30; i++) await keyed(`bad ${i}`, { $bad: i });
    for (let i = 0; i < 10; i++) expect((await keyed(`good ${i}`, {})).status).toBe(201);
    expect(await keyed('one too many', {})).toMatchObject(quotaReached);
  });

  it('costs a write no trip to the database', async () => {
    const identity = newProject();
    await post(identity);
    const named = jest.spyOn(bed.database, 'named');
    const query = jest.spyOn(bed.database, 'query');
    const trips = () => [
      named.mock.calls.length,
      query.mock.calls.filter(([text]) => text.includes('FROM project_owners')).length,
    ];
    for (let i = 0; i < 5; i++) await post(identity);
    expect(trips()).toEqual([5, 0]);
    bed.clock.pass(2001);
    await post(identity);
    await until(async () => trips()[1] === 1);
    expect(trips()).toEqual([6, 1]);
    jest.restoreAllMocks();
  });
});

describe('the totals of records', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const path = `/platform/projects/${testProject.id}/collections`;
  const shown = async (of = bed) => (await of.call('GET', path, { identity: asOwner() })).body;
  const stored = async () => {
    const [row] = await bed.database.query(
      `SELECT count(*) AS "totalRecords", coalesce(sum(octet_length(data::text)), 0)::int8 AS "totalBytes"
       FROM records WHERE project_id = $1`,
      [testProject.number],
    );
    return row as { totalRecords: number; totalBytes: number };
  };
  const folded = async () => {
    const [row] = await bed.database.query(
      `SELECT totals.records AS "totalRecords", totals.bytes AS "totalBytes" FROM totals
       WHERE project_id = $1 AND NOT EXISTS (SELECT 1 FROM count_delta)
         AND records = (SELECT sum(row_count) FROM collections WHERE collections.project_id = $1)
         AND bytes = (SELECT sum(byte_count) FROM collections WHERE collections.project_id = $1)`,
      [testProject.number],
    );
    return row;
  };
  /** The service's own sweep may be at it. */
  const foldAll = () =>
    until(async () => {
      await foldTotals(bed.database);
      return (await folded()) !== undefined;
    });
  const writeSome = (rounds: number) =>
    Promise.all(
      Array.from({ length: rounds }, async (_, i) => {
        const { id } = await bed.create(`c${i % 3}`, { text: letters(i * 7) });
        const record = `/db/c${i % 3}/${id}`;
        if (i % 2) await bed.call('PATCH', record, { body: { data: { more: letters(i) } } });
        if (i % 3 === 0) await bed.call('PUT', record, { body: { data: { n: 1.5e30 } } });
        if (i % 5 === 0) await bed.call('DELETE', record);
      }),
    );

  it('are what is stored, while writers and folds run at once', async () => {
    let isWriting = true;
    const writing = writeSome(60).finally(() => {
      isWriting = false;
    });
    while (isWriting) await Promise.all([foldTotals(bed.database), foldTotals(bed.database)]);
    await writing;
    const totals = await stored();
    expect(await shown()).toMatchObject(totals);
    await foldAll();
    expect(await folded()).toEqual(totals);
    const { items } = await shown();
    const sizes = items.map(({ sizeBytes }: { sizeBytes: number }) => sizeBytes);
    expect(sizes.reduce((sum: number, bytes: number) => sum + bytes, 0)).toBe(totals.totalBytes);
  });

  it('lose nothing when the process is killed between a write and the fold, or in the fold', async () => {
    const doomed = await createTestBed({}, {}, { databaseUrl: bed.databaseUrl, bus: bed.bus });
    for (let i = 0; i < 10; i++) await doomed.create('c0', { i });
    await doomed.kill();
    const totals = await stored();
    expect(await shown()).toMatchObject(totals);
    const crash = bed.database.transaction(async () => {
      await foldTotals(bed.database);
      throw new Error('killed');
    });
    await expect(crash).rejects.toThrow('killed');
    await foldAll();
    expect(await folded()).toEqual(totals);
    await doomed.service.stop();
  });

  it('take in what was there before anything was counted, while writers run', async () => {
    const { database } = bed;
    await database.query('UPDATE collections SET counted_at = NULL, row_count = 0, byte_count = 0');
    await database.query('DELETE FROM totals');
    await database.query('DELETE FROM count_delta');
    const before = await stored();
    expect((await shown()).items.map(({ count }: { count: number }) => count)).toHaveLength(3);
    expect(before.totalRecords).toBeGreaterThan(0);
    const writing = writeSome(40);
    await Promise.all([
      foldTotals(database),
      countCollections(database),
      countCollections(database),
    ]);
    await writing;
    await until(async () => {
      await countCollections(database);
      return (
        (await database.query('SELECT FROM collections WHERE counted_at IS NULL')).length === 0
      );
    });
    await foldAll();
    expect(await folded()).toEqual(await stored());
    expect(await shown()).toMatchObject(await stored());
  });

  it('take in once a week what went past them', async () => {
    const { database } = bed;
    await database.query(`DELETE FROM records WHERE id IN (SELECT id FROM records LIMIT 5)`);
    expect(await folded()).not.toEqual(await stored());
    await database.query(`UPDATE collections SET counted_at = now() - interval '8 days'`);
    await until(async () => {
      await countCollections(database);
      await foldTotals(database);
      const totals = (await folded()) as { totalRecords: number } | undefined;
      return totals?.totalRecords === (await stored()).totalRecords;
    });
    expect(await folded()).toEqual(await stored());
  });

  it('end with the project', async () => {
    await writeSome(10);
    await eraseProject(bed.database, testProject.number);
    await foldTotals(bed.database);
    const left = await bed.database.query(
      'SELECT (SELECT count(*) FROM count_delta) AS deltas, (SELECT count(*) FROM totals) AS totals',
    );
    expect(left).toEqual([{ deltas: 0, totals: 0 }]);
  });
});
