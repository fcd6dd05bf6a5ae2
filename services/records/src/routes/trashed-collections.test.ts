import { randomUUID } from 'node:crypto';
import { type TrashedCollection, undoRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { asKey, asOwner, asUser, refusesStrangers, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createCollections } from '../collections/collections.ts';
import { placeLimits } from '../collections/table/places.ts';
import { settingColumns } from '../collections/table/removal.ts';
import { createCollectionEraser } from '../erasure/erasure.ts';
import { collectionsPath } from '../testing/calls.ts';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const platform = `/platform/projects/${testProject.id}`;
const trashPath = `${platform}/trash/collections`;
const asAda = asUser(ada);
const agent = asKey();
const dayMs = 24 * 60 * 60 * 1000;

describe('deleted collections', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(async () => {
    expect(bed.errors).toEqual([]);
    await bed.close();
  });

  const call = (method: string, path: string, body?: object, identity: Identity = asOwner()) =>
    bed.call(method, path, { identity, ...(body && { body }) });
  const set = async (name: string, body: object) =>
    expect((await call('PUT', `${collectionsPath}/${name}`, body)).status).toBe(200);
  const remove = (name: string, query = '', identity = asOwner()) =>
    call('DELETE', `${collectionsPath}/${name}${query}`, undefined, identity);
  const restore = (name: string, body: object = {}) =>
    call('POST', `${collectionsPath}/${name}/restore`, body);
  const erase = (name: string) => call('DELETE', `${trashPath}/${name}`);
  const trash = async (): Promise<TrashedCollection[]> => (await call('GET', trashPath)).body.items;
  const inTrash = async (name: string) => (await trash()).filter((one) => one.name === name);
  const find = async (name: string) =>
    (await call('GET', collectionsPath)).body.items.find(
      (one: { name: string }) => one.name === name,
    );
  const ids = async (name: string, query = '') =>
    (await call('GET', `/db/${name}?limit=1000${query}`)).body.items.map(
      ({ id }: { id: string }) => id,
    );
  const numberOf = async (name: string) => {
    const [row] = await bed.database.query<{ id: number }>(
      `SELECT coll_id AS id FROM collections WHERE project_id = $1 AND name = $2`,
      [testProject.number, name],
    );
    return row?.id ?? 0;
  };
  /** Rows that are left of a collection, its own among them. */
  const left = async (id: number) => {
    const tables = ['collections', 'records', 'unique_values', 'search_texts', 'shares', 'slots'];
    const counts = tables.map(
      (table) => `(SELECT count(*) FROM ${table} WHERE project_id = $1 AND coll_id = $2)`,
    );
    const [row] = await bed.database.query<{ rows: number }>(
      `SELECT ${counts.join(' + ')} AS rows`,
      [testProject.number, id],
    );
    return row?.rows;
  };
  /** As if the days of one had passed, or the last who may know of it had gone. */
  const endDays = (id: number) =>
    bed.database.query(
      'UPDATE collections SET deleted_at = $3 WHERE project_id = $1 AND coll_id = $2 AND deleted_at IS NOT NULL',
      [testProject.number, id, new Date(Date.now() - 3_600_000)],
    );
  const fill = async (name: string, records = 3, identity: Identity = asAda) => {
    const made = [];
    for (let n = 0; n < records; n++)
      made.push(await bed.create(name, { code: `${n}`, n, text: `word${n}` }, identity));
    return made;
  };
  const settings = {
    access: { read: ['owner', 'shared'], create: ['users'], change: ['owner'] },
    unique: ['code'],
    search: true,
    indexes: ['n'],
    schema: { properties: { n: { type: 'number' } } },
    limits: { perUser: 50 },
    onErase: 'keep',
  };
  const setReady = async (name: string) => {
    await set(name, settings);
    await until(async () => {
      const { unique, search, indexes, limitsState } = await find(name);
      return (
        [unique[0], search, indexes[0]].every(({ state }) => state === 'ready') &&
        limitsState === 'ready'
      );
    });
  };

  const requests = [
    [undoRoutes.listTrashedCollections, '/trash/collections', undefined],
    [undoRoutes.restoreCollection, '/collections/strange/restore', {}],
    [undoRoutes.eraseTrashedCollection, '/trash/collections/strange', undefined],
  ] as const;
  for (const [route, end, body] of requests)
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path: `/projects/${testProject.id}${end}`, body }),
    );

  it('are nothing of another project, nor of its key', async () => {
    await fill('mine', 2);
    await remove('mine');
    const other = { ...testProject, id: 'other', number: 3204 };
    const path = '/platform/projects/other';
    for (const identity of [asOwner({ project: other }), asKey({ project: other })]) {
      expect(
        (await call('GET', `${path}/trash/collections`, undefined, identity)).body.items,
      ).toEqual([]);
      for (const [method, end, body] of [
        ['POST', '/collections/mine/restore', {}],
        ['DELETE', '/trash/collections/mine', undefined],
      ] as const)
        expect((await call(method, path + end, body, identity)).status).toBe(404);
    }
    expect(await inTrash('mine')).toHaveLength(1);
  });

  it('come back as they were, with all that was set of them and kept beside their records', async () => {
    await setReady('whole');
    const made = await fill('whole');
    const share = await call(
      'PUT',
      `/db/whole/${made[0]?.id}/_shares`,
      { userId: bob, may: 'read' },
      asAda,
    );
    expect(share.status).toBe(200);
    const before = await find('whole');
    const list = (await call('GET', '/db/whole?limit=100')).body;
    const { totalBytes } = (await call('GET', collectionsPath)).body;

    const { body } = await remove('whole', '', agent);
    expect(body).toMatchObject({ ok: true, count: 3 });
    expect(Date.parse(body.keptUntil)).toBeGreaterThan(Date.now() + 6.9 * dayMs);
    expect(await find('whole')).toBeUndefined();
    expect((await call('GET', `/db/whole/${made[0]?.id}`)).status).toBe(404);
    expect((await call('GET', `/db/!${await numberOf('whole')}`)).status).toBe(400);
    expect((await call('GET', collectionsPath)).body.totalBytes).toBe(totalBytes);
    expect(await inTrash('whole')).toEqual([
      {
        name: 'whole',
        how: 'deleted',
        records: 3,
        sizeBytes: before.sizeBytes,
        deletedAt: expect.stringMatching(/Z$/),
        keptUntil: body.keptUntil,
        by: `key:${agent.keyId}`,
        requestId: null,
      },
    ]);

    expect(await restore('whole')).toMatchObject({ status: 200, body: { ...before, count: 3 } });
    expect((await call('GET', '/db/whole?limit=100')).body).toEqual(list);
    expect(
      (await call('GET', '/db/whole?limit=100', undefined, asUser(bob))).body.items,
    ).toHaveLength(1);
    expect(await ids('whole', '&search=word1')).toEqual([made[1]?.id]);
    expect(await ids('whole', '&where={"n":2}')).toEqual([made[2]?.id]);
    const twice = await call('POST', '/db/whole', { data: { code: '1' } }, asAda);
    expect(twice.body.code).toBe('not_unique');
    expect((await call('POST', '/db/whole', { data: { n: 'no' } }, asAda)).status).toBe(400);
    expect(await inTrash('whole')).toEqual([]);
    expect((await restore('whole')).status).toBe(404);
  });

  it('leave their name free, and come back under another one where it is taken', async () => {
    const [first] = await fill('taken', 1);
    await remove('taken');
    const [second] = await fill('taken', 1, asUser(bob));
    const refused = await restore('taken');
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect(refused.body.hint).toContain('another name');
    expect((await restore('taken', { name: '!x' })).status).toBe(400);
    expect((await restore('taken', { name: 'freed' })).body).toMatchObject({
      name: 'freed',
      count: 1,
    });
    expect([await ids('taken'), await ids('freed')]).toEqual([[second?.id], [first?.id]]);
  });

  it('get their name back from one without records, unless something is set of that', async () => {
    const [first] = await fill('empty', 1);
    await remove('empty');
    const [second] = await fill('empty', 1);
    await call('DELETE', `/db/empty/${second?.id}`);
    expect((await restore('empty')).status).toBe(200);
    expect(await ids('empty')).toEqual([first?.id]);
    await remove('empty');
    await set('empty', { access: 'locked' });
    expect((await restore('empty')).status).toBe(409);
    expect(await find('empty')).toMatchObject({ access: 'locked', count: 0 });
  });

  it('are of several of a name the newest, or the one of a time', async () => {
    const [old] = await fill('several', 1);
    await remove('several');
    bed.clock.pass(10);
    await fill('several', 2);
    await remove('several');
    const [newer, older] = await inTrash('several');
    expect([newer?.records, older?.records]).toEqual([2, 1]);
    expect((await restore('several', { deletedAt: older?.deletedAt })).body.count).toBe(1);
    expect(await ids('several')).toEqual([old?.id]);
    expect((await restore('several', { deletedAt: older?.deletedAt, name: 'x' })).status).toBe(404);
    expect((await restore('several', { deletedAt: 'now' })).status).toBe(400);
    expect((await restore('several', { name: 'several2' })).body.count).toBe(2);
  });

  it('that were emptied get their records back, and keep the access that was set since', async () => {
    await setReady('emptied');
    const made = await fill('emptied');
    const before = await find('emptied');
    expect((await remove('emptied', '?empty=1')).body.count).toBe(3);
    expect(await find('emptied')).toMatchObject({ count: 0, unique: [{ state: 'ready' }] });
    expect(await inTrash('emptied')).toMatchObject([{ how: 'emptied', records: 3 }]);
    await set('emptied', { access: 'locked' });
    const [between] = await fill('emptied', 1, asOwner());
    expect((await restore('emptied')).status).toBe(409);
    await call('DELETE', `/db/emptied/${between?.id}`);
    const { status, body } = await restore('emptied');
    expect([status, body]).toEqual([200, { ...before, access: 'locked', advice: body.advice }]);
    expect((await ids('emptied')).toSorted()).toEqual(made.map(({ id }) => id).toSorted());
    expect(await ids('emptied', '&search=word1')).toEqual([made[1]?.id]);
    await remove('emptied', '?empty=1');
    await set('emptied', { history: false });
    await fill('emptied', 1, asOwner());
    expect((await remove('emptied', '?empty=1')).body.keptUntil).toBeNull();
    expect(await find('emptied')).toMatchObject({ history: false });
  });

  it('have settings whose columns are all known where they are copied', async () => {
    const rows = await bed.database.query<{ table: string; columns: string[] }>(
      `SELECT attrelid::regclass::text AS table, array_agg(attname::text ORDER BY attname) AS columns FROM pg_attribute
       WHERE attrelid = ANY ($1::text[]::regclass[]) AND attnum > 0 AND NOT attisdropped GROUP BY 1`,
      [Object.keys(settingColumns)],
    );
    const known = Object.entries(settingColumns).map(([table, columns]) => [
      table,
      ['project_id', 'coll_id', ...columns.split(', ')].toSorted(),
    ]);
    expect(Object.fromEntries(known)).toEqual(
      Object.fromEntries(rows.map(({ table, columns }) => [table, columns])),
    );
  });

  it('do not come back where no changes are kept of them', async () => {
    await set('forgetful', { history: false });
    await fill('forgetful', 2);
    const id = await numberOf('forgetful');
    expect((await remove('forgetful')).body).toEqual({ ok: true, count: 2, keptUntil: null });
    expect(await inTrash('forgetful')).toEqual([]);
    expect((await restore('forgetful')).status).toBe(404);
    await until(async () => (await left(id)) === 1);
  });

  it('are erased after their days, or at once where the owner says so', async () => {
    for (const name of ['aged', 'unwanted', 'wanted']) await fill(name, 2);
    const [aged, unwanted, wanted] = [
      await numberOf('aged'),
      await numberOf('unwanted'),
      await numberOf('wanted'),
    ];
    for (const name of ['aged', 'unwanted', 'wanted']) await remove(name);
    await endDays(aged);
    expect((await erase('unwanted')).body).toEqual({ ok: true, count: 1 });
    expect((await erase('unwanted')).status).toBe(404);
    await until(async () => (await left(aged)) === 0 && (await left(unwanted)) === 1);
    await endDays(unwanted);
    await until(async () => (await left(unwanted)) === 0);
    expect((await trash()).map(({ name }) => name)).not.toContain('aged');
    expect((await restore('aged')).status).toBe(404);
    expect((await restore('unwanted')).status).toBe(404);
    expect(await left(wanted)).toBe(3);
    expect((await restore('wanted')).body.count).toBe(2);
  });

  it('come back at the end of their days, or are gone: never a part of them', async () => {
    for (let n = 0; n < 6; n++) {
      const name = `ends${n}`;
      await fill(name, 3);
      const id = await numberOf(name);
      await remove(name);
      const outbox = { append: async () => {} };
      const eraser = createCollectionEraser(bed.database, outbox as never);
      const [{ status }] = await Promise.all([restore(name), endDays(id), eraser.run()]);
      if (status === 200) expect(await ids(name)).toHaveLength(3);
      else {
        expect(status).toBe(404);
        await until(async () => (await left(id)) === 0);
      }
    }
  });

  it('come back to no more places than a project has', async () => {
    const own = { project: { ...testProject, id: 'full', number: 3205 } };
    const path = '/platform/projects/full/collections';
    const as = (method: string, end: string, body?: object) =>
      call(method, path + end, body, asOwner(own));
    for (let n = 0; n < 101; n++) {
      if (n === 100) await as('DELETE', '/c0');
      expect((await as('PUT', `/c${n}`, { access: 'locked' })).status).toBe(200);
    }
    expect((await as('POST', '/c0/restore', {})).body.code).toBe('collection_limit');
    await as('DELETE', '/c1');
    expect((await as('POST', '/c0/restore', {})).status).toBe(200);
  });

  it('are a hundred in a project, and the oldest one is erased for the next', async () => {
    const own = { project: { ...testProject, id: 'loop', number: 3206 } };
    const path = '/platform/projects/loop';
    for (let n = 0; n <= undoRoutes.maxTrashedCollections; n++) {
      await bed.create('again', { n }, asOwner(own));
      expect(
        (await call('DELETE', `${path}/collections/again`, undefined, asOwner(own))).status,
      ).toBe(200);
      bed.clock.pass(1);
    }
    const { items } = (await call('GET', `${path}/trash/collections`, undefined, asOwner(own)))
      .body;
    expect(items).toHaveLength(undoRoutes.maxTrashedCollections);
    await until(async () => {
      const [row] = await bed.database.query<{ rows: number }>(
        'SELECT count(*) AS rows FROM records WHERE project_id = 3206',
      );
      return row?.rows === undoRoutes.maxTrashedCollections;
    });
  });

  it('come back once, whoever asks at the same time', async () => {
    await fill('once', 3);
    await remove('once');
    const answers = await Promise.all(Array.from({ length: 4 }, () => restore('once')));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404, 404, 404]);
    expect(await ids('once')).toHaveLength(3);
  });

  it('come back whole or are erased, where both are asked while the eraser works', async () => {
    for (let n = 0; n < 6; n++) {
      const name = `either${n}`;
      await fill(name, 3);
      const id = await numberOf(name);
      await remove(name);
      const asked = n % 2 === 0 ? [restore(name), erase(name)] : [erase(name), restore(name)];
      const outbox = { append: async () => {} };
      const eraser = createCollectionEraser(bed.database, outbox as never);
      const [answers] = await Promise.all([Promise.all(asked), eraser.run(), eraser.run()]);
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404]);
      if ((await find(name)) !== undefined) expect(await ids(name)).toHaveLength(3);
      else await until(async () => (await left(id)) === 1);
    }
  });

  it('lose no record of one that is created by the same name meanwhile', async () => {
    for (let n = 0; n < 6; n++) {
      const name = `both${n}`;
      await fill(name, 3);
      await remove(name);
      const [restored, created] = await Promise.all([
        restore(name),
        call('POST', `/db/${name}`, { data: { late: true } }),
      ]);
      expect(created.status).toBe(201);
      expect([200, 409]).toContain(restored.status);
      expect(await ids(name)).toHaveLength(restored.status === 200 ? 4 : 1);
      expect(await ids(name)).toContain(created.body.id);
    }
  });

  it('are there still where the process dies that brings them back', async () => {
    await fill('dying', 3);
    await remove('dying');
    const dying = {
      ...bed.database,
      transaction: (async (work) =>
        bed.database.transaction(async () => {
          await work();
          throw new Error('killed');
        })) as TestBed['database']['transaction'],
    };
    const collections = createCollections({
      database: dying,
      outbox: { append: async () => {} } as never,
      slots: { pin: async () => {} },
      places: placeLimits,
      historyDays: 7,
      now: Date.now,
    });
    await expect(collections.restore(testProject as never, 'dying', {})).rejects.toThrow('killed');
    expect(await find('dying')).toBeUndefined();
    expect((await restore('dying')).body.count).toBe(3);
  });

  it('go with their project', async () => {
    const project = { ...testProject, id: 'ending', number: 3207 };
    await bed.create('gone', { n: 1 }, asOwner({ project }));
    const path = '/platform/projects/ending/collections/gone';
    expect((await call('DELETE', path, undefined, asOwner({ project }))).status).toBe(200);
    const payload = { projectId: 'ending', projectNumber: 3207 };
    await bed.bus.publish({ id: randomUUID(), topic: 'project.erased', payload } as never);
    await until(async () => {
      const tables = ['collections', 'records', 'ended_collections', 'totals'];
      const counts = tables.map((table) => `(SELECT count(*) FROM ${table} WHERE project_id = $1)`);
      const [row] = await bed.database.query<{ rows: number }>(
        `SELECT ${counts.join(' + ')} AS rows`,
        [3207],
      );
      return row?.rows === 0;
    });
  });
});

describe('deleted collections of a project that has little room', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({}, { project: { records: 1000, bytes: 100_000 } });
  });
  afterAll(() => bed.close());

  it('count until they are erased, and make room for what comes, the oldest first', async () => {
    const text = 'x'.repeat(10_000);
    const remove = (name: string) =>
      bed.call('DELETE', `${collectionsPath}/${name}`, { identity: asOwner() });
    const names = async () =>
      (await bed.call('GET', trashPath, { identity: asOwner() })).body.items.map(
        ({ name }: { name: string }) => name,
      );
    for (const name of ['oldest', 'newest']) {
      for (let n = 0; n < 4; n++) await bed.create(name, { text });
      await remove(name);
      bed.clock.pass(10);
    }
    expect(await names()).toEqual(['newest', 'oldest']);
    let made = 0;
    await until(async () => {
      bed.clock.pass(3000);
      const body = { data: { text } };
      const { status } = await bed.call('POST', '/db/now', { identity: asOwner(), body });
      if (status === 201) made += 1;
      return made === 4;
    });
    expect(await names()).toEqual(['newest']);
    const { body } = await bed.call('GET', collectionsPath, { identity: asOwner() });
    expect(body.totalBytes).toBeLessThanOrEqual(100_000);
  });
});
