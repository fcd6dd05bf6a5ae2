import { asKey, asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { V7Generator } from 'uuidv7';
import { eraseProject } from '../erasure/erase-project.ts';
import { createMoves, type Moves } from '../testing/moves.ts';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const identity = asKey();
const carol = '018f0000-0000-7000-8000-0000000000c1';
const otherProject = { ...testProject, id: 'otherproject', number: 1002 };
const access = {
  read: ['owner', 'shared'],
  create: ['users'],
  change: ['owner', 'shared'],
};
const newIds = new V7Generator();

describe('a collection with a table of its own', () => {
  let bed: TestBed;
  let moves: Moves;
  /** Of one record, and of another that is shared with Bob. */
  let [one, shared] = ['', ''];
  let secondPage: { expected: unknown; path: string };

  const call = (method: string, path: string, body?: object, caller = identity) =>
    bed.call(method, path, { identity: caller, ...(body && { body }) });
  const fill = async (name: string, project = testProject) => {
    const author = asUser(ada, { project });
    for (let n = 0; n < 2000; n += 500) {
      const create = Array.from({ length: 500 }, (_, i) => ({
        data: { n: n + i, name: `name ${n + i}` },
      }));
      const { status } = await call('POST', `/db/${name}/_batch`, { create }, author);
      expect(status).toBe(200);
    }
  };
  const put = (body: object) =>
    call('PUT', `/platform/projects/${testProject.id}/collections/big`, body, asOwner());
  const collection = async () => {
    const { body } = await call(
      'GET',
      `/platform/projects/${testProject.id}/collections`,
      undefined,
      asOwner(),
    );
    return body.items.find(({ name }: { name: string }) => name === 'big');
  };
  const isReady = async (kind: 'indexes' | 'unique') =>
    (await collection())[kind].every(({ state }: { state: string }) => state === 'ready');
  const list = async (query: string) => (await call('GET', `/db/big?${query}`)).body;

  beforeAll(async () => {
    bed = await createTestBed();
    moves = await createMoves(bed);
    await put({ access, indexes: ['n'] });
    await fill('big');
    const { items } = await list('sort=-n&limit=2');
    [one, shared] = items.map(({ id }: { id: string }) => id);
    await call('PUT', `/db/big/${shared}/_shares`, { userId: bob, may: 'change' });
    const { nextCursor } = await list('sort=-n&limit=700');
    const path = `/db/big?sort=-n&limit=700&cursor=${nextCursor}`;
    secondPage = { path, expected: (await call('GET', path)).body };
    await moves.begin();
    await moves.untilMoved('big');
    await moves.untilEmptied('big');
  });
  afterAll(() => bed.close());

  it('holds its records alone, and shows them as before, behind cursors from before too', async () => {
    const table = await moves.tableOf('big');
    expect(table).toMatch(moves.isCluster ? 'records' : /^records_large\.p\d+_c\d+$/);
    for (const [place, count] of [
      [table, 2000],
      ['records', moves.isCluster ? 2000 : 0],
    ])
      expect(
        await bed.database.query(`SELECT id FROM ${place} WHERE project_id = $1`, [
          testProject.number,
        ]),
      ).toHaveLength(Number(count));
    expect((await call('GET', secondPage.path)).body).toEqual(secondPage.expected);
    expect((await call('GET', '/db/big/_count')).body).toEqual({ count: 2000 });
    expect((await collection()).count).toBe(2000);
    const path = `/platform/projects/${testProject.id}/collections/big/shape`;
    const { body: shape } = await call('GET', path, undefined, asOwner());
    expect([shape.count, shape.fields.length]).toEqual([2000, 2]);
    expect(shape.sampled).toBeGreaterThan(500);
  });

  it('has statistics of its keys, for which no document was read', async () => {
    if (moves.isCluster) return;
    const table = await moves.tableOf('big');
    const known = await bed.database.query<{ name: string; target: number }>(
      `SELECT known.attname AS name, attstattarget AS target FROM pg_stats known
       JOIN pg_attribute a ON a.attname = known.attname AND attrelid = to_regclass($1)
       WHERE schemaname || '.' || tablename = $1::text`,
      [table],
    );
    const names = known.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['project_id', 'coll_id', 'id', 'k1']));
    expect(names).not.toContain('data');
    expect(new Set(known.map(({ target }) => target))).toEqual(new Set([30]));
    const [counted] = await bed.database.query(
      'SELECT reltuples FROM pg_class WHERE oid = $1::regclass',
      [table],
    );
    expect(counted).toEqual({ reltuples: 2000 });
  });

  it('opens to nobody else', async () => {
    for (const stranger of [
      asKey({ project: otherProject }),
      asUser(ada, { project: otherProject }),
      asUser(carol),
    ]) {
      expect((await call('GET', `/db/big/${one}`, undefined, stranger)).status).toBe(404);
      expect((await call('GET', '/db/big', undefined, stranger)).body.items).toEqual([]);
      for (const [method, body] of [
        ['PATCH', { data: {} }],
        ['PUT', { data: {} }],
        ['DELETE', undefined],
      ] as const)
        expect((await call(method, `/db/big/${one}`, body, stranger)).status).toBe(404);
    }
  });

  it('keeps shares, and forgets them with their records', async () => {
    const as = (user: string) => asUser(user);
    const read = async (id: string, user: string) =>
      (await call('GET', `/db/big/${id}`, undefined, as(user))).status;
    expect([await read(shared, bob), await read(shared, carol)]).toEqual([200, 404]);
    const id = newIds.generateOrResetWithTs(bed.clock.now()).toString();
    const upsert = () => call('PUT', `/db/big/${id}?upsert=1`, { data: {} });
    for (const remove of [
      () => call('DELETE', `/db/big/${id}`),
      () => call('POST', '/db/big/_batch', { delete: [id] }),
    ]) {
      expect((await upsert()).status).toBe(201);
      expect(await read(id, carol)).toBe(404);
      const share = { userId: carol, may: 'read' };
      expect((await call('PUT', `/db/big/${id}/_shares`, share)).status).toBe(200);
      expect(await read(id, carol)).toBe(200);
      expect((await call('GET', `/db/big/${id}/_shares`)).body.items).toHaveLength(1);
      expect((await remove()).status).toBe(200);
    }
    // One that was left behind opens nothing.
    await bed.database.query(
      `INSERT INTO shares (project_id, coll_id, record_id, user_id, may, created_at)
       SELECT project_id, coll_id, $1, $2, 'read', now() FROM collections WHERE name = 'big'`,
      [id, carol],
    );
    await upsert();
    expect(await read(id, carol)).toBe(404);
    await call('DELETE', `/db/big/${id}`);
  });

  it('gets indexes and unique fields as any other', async () => {
    expect((await put({ indexes: ['name', 'n'], unique: ['n'] })).status).toBe(200);
    await until(() => isReady('indexes'), { what: 'the indexes' });
    await until(() => isReady('unique'), { what: 'the unique field' });
    const wrong = await bed.database.query(
      `SELECT r.id FROM ${await moves.tableOf('big')} r JOIN slots USING (project_id, coll_id)
       WHERE field = 'name' AND records.field_key(data, '{name}') IS DISTINCT FROM
         CASE slot WHEN 1 THEN k1 WHEN 2 THEN k2 WHEN 3 THEN k3 END`,
    );
    expect(wrong).toEqual([]);
    const { items } = await list('where={"name":{"$startsWith":"name 19"}}&sort=name&limit=3');
    expect(items.map(({ n }: { n: number }) => n)).toEqual([19, 190, 1900]);
    const taken = await call('POST', '/db/big', { data: { n: 5 } }, asUser(ada));
    expect(taken).toMatchObject({ status: 409, body: { code: 'not_unique' } });
  });

  it('keeps to versions and limits', async () => {
    const path = `/db/big/${one}`;
    const { headers } = await call('GET', path);
    const ifMatch = { 'if-match': String(headers.get('etag')) };
    const patch = (headers: Record<string, string>, data: object) =>
      bed.call('PATCH', path, { identity, headers, body: { data } });
    expect((await patch(ifMatch, { seen: true })).status).toBe(200);
    expect((await patch(ifMatch, { seen: false })).status).toBe(412);
    expect((await patch({}, { a: 'x'.repeat(600_000) })).status).toBe(200);
    expect((await call('GET', path)).body.a).toHaveLength(600_000);
    const tooLarge = await patch({}, { b: 'x'.repeat(600_000) });
    expect(tooLarge).toMatchObject({ status: 400, body: { code: 'invalid_data' } });
  });

  it('ends with its project, on its way too', async () => {
    for (const isMoved of [false, true]) {
      await fill('other', otherProject);
      await moves.begin();
      await moves.untilCopied('other');
      if (isMoved) await moves.untilMoved('other');
      const tables = `SELECT relname FROM pg_class WHERE relnamespace = 'records_large'::regnamespace
        AND relname LIKE 'p${otherProject.number}%' AND relkind = 'r'`;
      expect(await bed.database.query(tables)).toHaveLength(moves.isCluster ? 0 : 1);
      await eraseProject(bed.database, otherProject.number);
      expect(await bed.database.query(tables)).toEqual([]);
      for (const table of ['moves', 'moved_changes', 'records', 'collections'])
        expect([
          table,
          await bed.database.query(`SELECT 1 FROM ${table} WHERE project_id = $1`, [
            otherProject.number,
          ]),
        ]).toEqual([table, []]);
      bed.clock.pass(6000);
    }
    expect((await call('GET', '/db/big/_count')).body).toEqual({ count: 2000 });
  });
});
