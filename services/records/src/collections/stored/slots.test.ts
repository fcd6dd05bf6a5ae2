import { anonymous, asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { ada, createTestBed, type TestBed } from '../../testing/test-bed.ts';

const longText = 'é'.repeat(200);

describe('index slots', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const put = (collection: string, body: object) =>
    bed.call('PUT', `/platform/projects/${testProject.id}/collections/${collection}`, {
      identity: asOwner(),
      body,
    });
  const indexes = async (collection: string) => {
    const { body } = await bed.call('GET', `/platform/projects/${testProject.id}/collections`, {
      identity: asOwner(),
    });
    return body.items.find(({ name }: { name: string }) => name === collection).indexes;
  };
  const untilReady = (collection: string) =>
    until(async () => {
      const all: { state: string }[] = await indexes(collection);
      return all.every(({ state }) => state === 'ready');
    });
  /** Records whose column of the field holds something else than the field's key. */
  const wrongKeys = async (collection: string): Promise<unknown[]> => {
    const slots = await bed.database.query<{ slot: number; field: string }>(
      `SELECT slot, field FROM slots JOIN collections USING (project_id, coll_id) WHERE name = $1`,
      [collection],
    );
    const wrong = slots.map(async ({ slot, field }) => {
      const key =
        field === 'ownerId' ? 'records.owner_key(owner_id)' : 'records.field_key(data, $2)';
      return bed.database.query(
        `SELECT $2::text[] AS field, id, k${slot} AS key, data FROM records JOIN collections USING (project_id, coll_id)
         WHERE name = $1 AND k${slot} IS DISTINCT FROM ${key}`,
        [collection, field.split('.')],
      );
    });
    return (await Promise.all(wrong)).flat();
  };

  it('are asked for by the owner, filled, and listed', async () => {
    await bed.create('towns', { name: 'Ulm', at: { lat: 48 }, tags: ['a'] }, asUser(ada));
    await bed.create('towns', { name: longText, at: [{ lat: 1 }] });
    const indexed = ['name', 'at.lat', 'tags', 'ownerId'];
    const set = await put('towns', { access: 'public-read', indexes: indexed });
    expect(set).toMatchObject({ status: 200, body: { access: 'public-read', count: 2 } });
    await untilReady('towns');
    expect(await indexes('towns')).toEqual(
      [...indexed].sort().map((field) => ({
        field,
        state: 'ready',
        isPinned: true,
        reason: null,
        uses: 0,
        lastUsedAt: null,
      })),
    );
    const keys = await bed.database.query(
      `SELECT k1, k2, k3, k4 FROM records JOIN collections USING (project_id, coll_id)
       WHERE name = 'towns' ORDER BY id`,
    );
    expect(keys).toEqual([
      { k1: 'Ulm', k2: 48, k3: [], k4: ada },
      { k1: longText.slice(0, 128), k2: [], k3: null, k4: null },
    ]);
    expect(await wrongKeys('towns')).toEqual([]);
    const kept = await put('towns', { indexes: ['name'] });
    expect(kept.body).toMatchObject({ access: 'public-read' });
    expect(kept.body.indexes.filter(({ isPinned }: { isPinned: boolean }) => isPinned)).toEqual([
      expect.objectContaining({ field: 'name' }),
    ]);
  });

  it('show how far they are while they are building', async () => {
    for (let n = 0; n < 8; n++) await bed.create('half', { n });
    await bed.database.transaction(async () => {
      await bed.database.query(
        `SELECT pg_advisory_xact_lock(hashtextextended('records slots', 0))`,
      );
      await bed.database.detached(async () => {
        await put('half', { indexes: ['n'] });
        await bed.database.query(
          `UPDATE slots SET filled = 6 FROM collections c WHERE c.project_id = $1 AND name = 'half'
             AND slots.project_id = $1 AND slots.coll_id = c.coll_id`,
          [testProject.number],
        );
        const [index] = await indexes('half');
        expect(index).toMatchObject({ field: 'n', state: 'building', progress: 0.75 });
      });
    });
    await untilReady('half');
    expect((await indexes('half'))[0]).not.toHaveProperty('progress');
  });

  it('are at most six, and not of what always has an index or changes with every write', async () => {
    const seven = Array.from({ length: 7 }, (_, i) => `f${i}`);
    expect(await put('few', { indexes: seven })).toMatchObject({ status: 400 });
    for (const field of ['id', 'createdAt', 'updatedAt', '$x', 'a.$b', 'a\0']) {
      const refused = await put('few', { indexes: [field] });
      expect([field, refused.status, refused.body.code]).toEqual([field, 400, 'invalid_body']);
      expect(refused.body.error).toContain('indexes');
    }
    expect(await put('few', { indexes: seven.slice(0, 6) })).toMatchObject({ status: 200 });
    const replaced = await put('few', { indexes: seven.slice(1) });
    expect(replaced.status).toBe(200);
    const fields = (await indexes('few')).map(({ field }: { field: string }) => field);
    expect(fields).toEqual(seven.slice(1));
  });

  it('stay as they are where the owner pins them too, in whichever order', async () => {
    const own = ['a', 'b', 'c', 'd', 'e', 'f'];
    await put('kept', { indexes: own });
    await untilReady('kept');
    const built = async () =>
      new Map(
        (
          await bed.database.query<{ field: string; assigned_at: Date }>(
            `SELECT field, assigned_at FROM slots JOIN collections USING (project_id, coll_id) WHERE name = 'kept'`,
          )
        ).map(({ field, assigned_at }) => [field, assigned_at.getTime()]),
      );
    const before = await built();
    await put('kept', { indexes: [] });
    await put('kept', { indexes: own.toReversed() });
    expect(await built()).toEqual(before);
    await put('kept', { indexes: [] });
    const pinned = ['new', 'e', 'd', 'c', 'b', 'a'];
    await put('kept', { indexes: pinned });
    const after = await built();
    for (const field of pinned.slice(1))
      expect([field, after.get(field)]).toEqual([field, before.get(field)]);
    expect([...after.keys()].sort()).toEqual([...pinned].sort());
  });

  it('miss no record, whatever is written while they are assigned, built and replaced', async () => {
    const fields = ['n', 'text', 'deep.n', 'ownerId', 'other', 'list', 'more'];
    const write = async (writer: number) => {
      const identity = writer % 2 === 0 ? asUser(ada) : anonymous();
      const ids: string[] = [];
      for (let i = 0; i < 40; i++) {
        const data = { n: i, text: `t${i}`, deep: { n: i }, list: [i], more: i % 2 === 0 };
        const made = await bed.create('busy', data, identity);
        ids.push(made.id);
        const at = `/db/busy/${ids[(i * 7) % ids.length]}`;
        const answers = [
          await bed.call('PATCH', at, { identity, body: { data: { other: i }, inc: { n: 1 } } }),
          await bed.call('PATCH', at, { identity, body: { unset: ['text'] } }),
          await bed.call('PUT', at, { identity, body: { data: { n: -i, deep: [i], more: null } } }),
          await bed.call('POST', '/db/busy/_batch', {
            identity,
            body: {
              create: [{ data: { n: i, deep: { n: 'x' } } }],
              update: [{ id: made.id, data: { list: i }, inc: { n: 2 }, unset: ['deep'] }],
            },
          }),
        ];
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      }
    };
    const assign = async () => {
      for (let i = 0; i < 12; i++) {
        const chosen = fields.filter((_, n) => (n + i) % 3 !== 0);
        expect((await put('busy', { indexes: chosen })).status).toBe(200);
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    };
    await bed.create('busy', {});
    await Promise.all([assign(), ...[0, 1, 2].map(write)]);
    await untilReady('busy');
    expect(await wrongKeys('busy')).toEqual([]);
    expect(await indexes('busy')).toHaveLength(6);
  });

  it('are right for a process that has not heard of them yet', async () => {
    const other = await createTestBed({}, {}, { databaseUrl: bed.databaseUrl });
    const identity = asUser(ada);
    const first = await other.create('late', { n: 1, m: 1 }, identity);
    await put('late', { indexes: ['n', 'm'] });
    await untilReady('late');
    const made = await other.create('late', { n: 2 }, identity);
    expect(await wrongKeys('late')).toEqual([]);
    const changes = [
      () => other.call('PATCH', `/db/late/${first.id}`, { identity, body: { data: { n: 3 } } }),
      () => other.call('PUT', `/db/late/${made.id}`, { identity, body: { data: { n: 4 } } }),
      () =>
        other.call('PUT', `/db/late/${uuidv7()}?upsert=1`, { identity, body: { data: { n: 5 } } }),
      () =>
        other.call('POST', '/db/late/_batch', {
          identity,
          headers: { 'idempotency-key': 'once' },
          body: { create: [{ data: { n: 6 } }], update: [{ id: first.id, inc: { n: 10 } }] },
        }),
      () => other.call('DELETE', `/db/late/${made.id}`, { identity }),
    ];
    for (const [i, change] of changes.entries()) {
      // Every second time another field's column is the first one.
      await put('late', { indexes: i % 2 === 0 ? ['a', 'b', 'c', 'd', 'm', 'e'] : ['n', 'm'] });
      const { status, body } = await change();
      expect([i, status < 300, body]).toEqual([i, true, body]);
      await untilReady('late');
      expect(await wrongKeys('late')).toEqual([]);
    }
    const numbers = async (where: object) => {
      const search = new URLSearchParams({ where: JSON.stringify(where), sort: 'n' });
      const { body } = await other.call('GET', `/db/late?${search}`, { identity });
      return body.items.map(({ n }: { n: number }) => n);
    };
    expect(await numbers({ n: { $gt: 5 } })).toEqual([6, 13]);
    await put('late', { indexes: ['a', 'b', 'c', 'd', 'e', 'f'] });
    await untilReady('late');
    expect(await numbers({ n: { $gt: 5 } })).toEqual([6, 13]);
    await put('late', { indexes: ['n'] });
    await untilReady('late');
    expect(await numbers({ n: 6 })).toEqual([6]);
    await other.close();
  });

  it('are filled to the end however often the connections break', async () => {
    await bed.create('long', { n: 0 });
    await bed.database.query(
      `INSERT INTO records (project_id, coll_id, id, created_at, updated_at, data)
       SELECT project_id, coll_id, uuidv7(), now(), now(), jsonb_build_object('n', n)
       FROM collections, generate_series(1, 20000) n WHERE name = 'long'`,
    );
    expect(await put('long', { indexes: ['n'] })).toMatchObject({ status: 200 });
    for (let i = 0; i < 8; i++) {
      await bed.ownerDatabase.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND query LIKE '%slots%' AND pid <> pg_backend_pid()`,
      );
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    await until(async () => (await indexes('long'))[0].state === 'ready', { timeoutMs: 180_000 });
    expect(await wrongKeys('long')).toEqual([]);
  }, 300_000);
});
