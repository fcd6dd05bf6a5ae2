import { setTimeout as pause } from 'node:timers/promises';
import { asKey, asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const path = `/platform/projects/${testProject.id}/collections`;
const many = 1_000_000;

describe('how many records each user owns', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const setLimits = (collection: string, limits: object | null) =>
    bed.call('PUT', `${path}/${collection}`, {
      identity: asOwner(),
      body: { limits, access: 'public-read' },
    });
  const untilCounted = (collection: string) =>
    until(async () => {
      const { body } = await bed.call('GET', path, { identity: asOwner() });
      const found = body.items.find(({ name }: { name: string }) => name === collection);
      return found.limitsState === 'ready';
    });
  /** Users whose count is not what they own. */
  const wrongCounts = (collection: string) =>
    bed.database.query(
      `WITH generation AS (
         SELECT project_id, coll_id, number FROM record_limits JOIN collections USING (project_id, coll_id)
         WHERE name = $1 AND state = 'ready'),
       counted AS (
         SELECT key, records FROM record_counts JOIN generation USING (project_id, coll_id, number) WHERE records <> 0),
       owned AS (
         SELECT owner_id::text AS key, count(*) AS records FROM records JOIN generation USING (project_id, coll_id)
         WHERE owner_id IS NOT NULL GROUP BY 1)
       SELECT key, counted.records AS counted, owned.records AS owned FROM counted FULL JOIN owned USING (key)
       WHERE counted.records IS DISTINCT FROM owned.records
       UNION ALL SELECT 'not ready', 0, 0 WHERE NOT EXISTS (SELECT FROM generation)`,
      [collection],
    );
  const addFormer = (collection: string, count: number) =>
    bed.database.query(
      `INSERT INTO records (project_id, coll_id, id, owner_id, created_at, updated_at, data)
       SELECT project_id, coll_id, uuidv7(), CASE WHEN n % 3 = 0 THEN $2 WHEN n % 3 = 1 THEN $3 END::uuid, now(), now(), '{}'
       FROM collections, generate_series(1, $4::int) n WHERE name = $1`,
      [collection, ada, bob, count],
    );
  const call = (method: string, at: string, identity = asUser(ada), body?: object) =>
    bed.call(method, `/db/${at}`, { identity, ...(body && { body }) });
  const create = (collection: string, identity = asUser(ada)) =>
    call('POST', collection, identity, { data: {} });

  it('is known of records from before, too', async () => {
    await bed.create('former', {}, asUser(ada));
    await addFormer('former', 30);
    await setLimits('former', { perUser: 10 });
    await untilCounted('former');
    expect(await wrongCounts('former')).toEqual([]);
    expect((await create('former')).body.error).toContain('you have 11');
    expect((await create('former', asUser(bob))).status).toBe(403);
    await setLimits('former', { perUser: 12 });
    expect((await create('former')).status).toBe(201);
    expect((await create('former')).status).toBe(403);
  });

  it('is exact whatever is written and deleted while they are counted, and while connections break', async () => {
    await bed.create('busy', {}, asUser(ada));
    await addFormer('busy', 5000);
    const { items } = (await call('GET', 'busy?limit=1000&sort=id')).body;
    let isOver = false;
    const breakConnections = async () => {
      while (!isOver) {
        await bed.ownerDatabase.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND query LIKE '%record_counts%' AND pid <> pg_backend_pid()`,
        );
        await pause(30);
      }
    };
    const write = async (writer: number) => {
      const identity = asUser(writer % 2 ? ada : bob);
      for (let i = 0; i < 40; i++) {
        const { id } = items[writer * 100 + i];
        await create('busy', identity);
        await call('DELETE', `busy/${id}`, asKey());
        await call('POST', 'busy/_batch', asKey(), {
          create: [{ data: {} }],
          delete: [items[writer * 100 + 50 + i].id],
        });
        await call('POST', 'busy/_batch', identity, { create: [{ data: {} }, { data: {} }] });
      }
    };
    const breaking = breakConnections();
    const writing = Promise.all([0, 1, 2, 3].map(write));
    await setLimits('busy', { perUser: many });
    await writing;
    isOver = true;
    await breaking;
    await untilCounted('busy');
    expect(await wrongCounts('busy')).toEqual([]);
    await create('busy');
    await call('DELETE', `busy/${items[999].id}`, asKey());
    expect(await wrongCounts('busy')).toEqual([]);
  });

  it('is right where a process has not heard of the limit yet', async () => {
    const other = await createTestBed({}, {}, { databaseUrl: bed.databaseUrl });
    const made = await other.create('late', {}, asUser(ada));
    await setLimits('late', { perUser: 2 });
    await untilCounted('late');
    const send = (method: string, at: string, body?: object) =>
      other.call(method, `/db/late${at}`, { identity: asUser(ada), ...(body && { body }) });
    expect((await send('POST', '', { data: {} })).status).toBe(201);
    expect((await send('POST', '', { data: {} })).status).toBe(403);
    expect((await send('DELETE', `/${made.id}`)).status).toBe(200);
    expect((await send('POST', '', { data: {} })).status).toBe(201);
    expect(await wrongCounts('late')).toEqual([]);
    await setLimits('late', null);
    expect((await send('POST', '', { data: {} })).status).toBe(201);
    await setLimits('late', { perUser: 2 });
    await untilCounted('late');
    expect(await wrongCounts('late')).toEqual([]);
    await other.close();
  });

  it('is forgotten with the limit, and counted anew with the next', async () => {
    await bed.create('brief', {}, asUser(ada));
    await setLimits('brief', { perUser: 1 });
    await untilCounted('brief');
    expect((await create('brief')).status).toBe(403);
    await setLimits('brief', { perUser: null });
    expect((await create('brief')).status).toBe(201);
    await until(async () => {
      const [row] = await bed.database.query<{ left: number }>(
        `SELECT (SELECT count(*) FROM record_limits JOIN collections USING (project_id, coll_id) WHERE name = 'brief')
           + (SELECT count(*) FROM record_counts JOIN collections USING (project_id, coll_id) WHERE name = 'brief') AS left`,
      );
      return row?.left === 0;
    });
    await setLimits('brief', { perUser: 3 });
    await untilCounted('brief');
    expect(await wrongCounts('brief')).toEqual([]);
    expect((await create('brief')).status).toBe(201);
    expect((await create('brief')).status).toBe(403);
  });
});
