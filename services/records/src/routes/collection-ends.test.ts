import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { placeLimits } from '../collections/table/places.ts';
import { createCollectionEraser } from '../erasure/erasure.ts';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const collectionsOf = (id: string) => `/platform/projects/${id}/collections`;
const path = (name = '') => `${collectionsOf(testProject.id)}${name && `/${name}`}`;
const identity = asOwner();
const otherProject = { ...testProject, id: 'other', number: 3104 };

/** As if the last who may know of deleted ones had gone. */
const letTimePass = ({ database }: TestBed) =>
  database.query('UPDATE collections SET deleted_at = $1 WHERE deleted_at IS NOT NULL', [
    new Date(Date.now() - 3_600_000),
  ]);

describe('the end of a collection', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const list = async () => (await bed.call('GET', path(), { identity })).body;
  const find = async (name: string) =>
    (await list()).items.find((item: { name: string }) => item.name === name);
  const set = (name: string, body: object) => bed.call('PUT', path(name), { identity, body });
  const remove = (name: string, query = '') =>
    bed.call('DELETE', `${path(name)}${query}`, { identity });
  const count = async (name: string) =>
    (await bed.call('GET', `/db/${name}/_count`, { identity })).body.count;

  /** Rows of deleted collections. */
  const left = async () => {
    const rows = await bed.database.query<{ rows: number }>(
      `SELECT (SELECT count(*) FROM collections WHERE deleted_at IS NOT NULL) + (SELECT count(*) FROM records r WHERE r.coll_id IN (
           SELECT coll_id FROM collections c WHERE c.project_id = r.project_id AND deleted_at IS NOT NULL))
         + (SELECT count(*) FROM unique_values v WHERE NOT EXISTS (SELECT FROM unique_fields f WHERE f.project_id = v.project_id AND f.coll_id = v.coll_id))
         + (SELECT count(*) FROM search_texts t WHERE NOT EXISTS (SELECT FROM searches s WHERE s.project_id = t.project_id AND s.coll_id = t.coll_id)) AS rows`,
    );
    return rows[0]?.rows;
  };

  const fill = async (name: string, records = 3) => {
    await set(name, { access: 'private', unique: ['code'], search: true, indexes: ['n'] });
    await until(async () => {
      const { unique, search, indexes } = await find(name);
      return [unique[0], search, indexes[0]].every((part) => part?.state === 'ready');
    });
    const ids: string[] = [];
    for (let start = 0; start < records; start += 500) {
      const create = Array.from({ length: Math.min(500, records - start) }, (_, i) => ({
        data: { code: `${start + i}`, n: start + i },
      }));
      const body = { create };
      const made = await bed.call('POST', `/db/${name}/_batch`, { identity: asUser(ada), body });
      expect(made.status).toBe(200);
      ids.push(...made.body.create.map(({ id }: { id: string }) => id));
    }
    return ids;
  };

  it('takes its records at once, and all that was kept for them soon where it keeps no history', async () => {
    await fill('kept');
    const before = await list();
    const [id] = await fill('gone', 1203);
    await set('gone', { history: false });
    expect((await remove('gone')).body).toEqual({ ok: true, count: 1203, keptUntil: null });
    expect(await find('gone')).toBeUndefined();
    expect((await bed.call('GET', `/db/gone/${id}`, { identity })).status).toBe(404);
    expect((await bed.call('GET', '/db/gone', { identity })).body.items).toEqual([]);
    expect((await remove('gone')).status).toBe(404);
    await until(async () => {
      const { totalRecords } = await list();
      return totalRecords === before.totalRecords;
    });
    await letTimePass(bed);
    await until(async () => (await left()) === 0);
    await until(async () => {
      const { totalRecords, totalBytes } = await list();
      return totalRecords === before.totalRecords && totalBytes === before.totalBytes;
    });
    expect(await list()).toEqual(before);
  });

  it('frees its name, unique values and words for one of the same name', async () => {
    await fill('again');
    await remove('again');
    await bed.create('again', { code: '1' }, asUser(bob));
    await bed.create('again', { code: '1' }, asUser(bob));
    expect(await count('again')).toBe(2);
    await letTimePass(bed);
    await until(async () => (await left()) === 0);
    expect(await count('again')).toBe(2);
    expect(await find('again')).toMatchObject({ access: 'shared', count: 2, unique: [] });
  });

  it('is only counted with ?dryRun=1, which says whether and how long the records can come back', async () => {
    await fill('tried');
    for (const [history, hint] of [
      [true, '/collections/tried/restore'],
      [false, 'nothing brings these records back'],
    ] as const) {
      await set('tried', { history });
      for (const query of ['?dryRun=1', '?empty=1&dryRun=1']) {
        const { status, body, headers } = await remove('tried', query);
        const keptUntil = history ? expect.stringMatching(/Z$/) : null;
        expect([status, body]).toEqual([200, { ok: true, count: 3, keptUntil, dryRun: true }]);
        expect(headers.get('backlot-hint')).toContain(hint);
      }
    }
    expect(await count('tried')).toBe(3);
  });

  it('with ?empty=1 keeps the collection and its settings', async () => {
    await fill('emptied');
    const before = await find('emptied');
    expect((await remove('emptied', '?empty=1')).body).toMatchObject({ ok: true, count: 3 });
    expect(await find('emptied')).toEqual({ ...before, count: 0, sizeBytes: 0 });
    await bed.create('emptied', { code: '1', n: 7 }, asUser(ada));
    const twice = await bed.call('POST', '/db/emptied', {
      identity: asUser(ada),
      body: { data: { code: '1' } },
    });
    expect(twice.body.code).toBe('not_unique');
    const found = await bed.call('GET', '/db/emptied?search=1&where={"n":7}', { identity });
    expect(found.body.items).toHaveLength(1);
    expect((await bed.call('GET', '/db/emptied')).status).toBe(401);
    await letTimePass(bed);
    await until(async () => (await left()) === 0);
    expect(await find('emptied')).toMatchObject({ count: 1 });
  });

  it('survives a process that dies at any batch, and one that is at it beside it', async () => {
    await fill('killed', 1100);
    await remove('killed');
    await letTimePass(bed);
    const failing = {
      ...bed.database,
      transaction: (async (work) =>
        bed.database.transaction(async () => {
          await work();
          throw new Error('killed');
        })) as TestBed['database']['transaction'],
    };
    const outbox = { append: async () => {} };
    const dying = createCollectionEraser(failing, outbox as never);
    for (let kills = 0; kills < 5; kills++) await dying.run().catch(() => {});
    await until(async () => (await left()) === 0);
    const { totalRecords, items } = await list();
    const sum = items.reduce((sum: number, item: { count: number }) => sum + item.count, 0);
    expect(totalRecords).toBe(sum);
  });

  it('leaves the records of every other collection and project', async () => {
    const asOther = (name: string) =>
      bed.call('DELETE', `${collectionsOf(otherProject.id)}/${name}`, {
        identity: asOwner({ project: otherProject }),
      });
    await bed.create('mine', {});
    await bed.create('mine', {}, asKey({ project: otherProject }));
    expect((await asOther('mine')).body).toMatchObject({ ok: true, count: 1 });
    expect(await count('mine')).toBe(1);
  });

  it('is a rename where it only gets another name', async () => {
    const [id] = await fill('before');
    await bed.create('taken', {});
    const rename = (from: string, name: string) =>
      bed.call('PATCH', path(from), { identity, body: { name } });
    expect((await rename('before', 'taken')).body.code).toBe('conflict');
    expect((await rename('nowhere', 'x')).status).toBe(404);
    expect((await rename('before', '!x')).status).toBe(400);
    const summary = await find('before');
    expect((await rename('before', 'after')).body).toEqual({ ...summary, name: 'after' });
    expect((await bed.call('GET', `/db/after/${id}`, { identity })).status).toBe(200);
    expect((await bed.call('GET', `/db/before/${id}`, { identity })).status).toBe(404);
    expect((await bed.create('before', {})).ownerId).toBeNull();
    const twice = await bed.call('POST', '/db/after', {
      identity: asUser(ada),
      body: { data: { code: '1' } },
    });
    expect(twice.body.code).toBe('not_unique');
  });

  it('loses no record that was answered with 201, whoever deletes beside it', async () => {
    const answers = await Promise.all(
      Array.from({ length: 18 }, (_, n) =>
        n % 6 === 5
          ? remove('busy')
          : bed.call('POST', '/db/busy', { identity, body: { data: { n } } }),
      ),
    );
    expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([]);
    const made = answers.filter(({ status }) => status === 201).length;
    const removed = answers
      .filter(({ status, body }) => status === 200 && body.ok)
      .reduce((sum, { body }) => sum + body.count, 0);
    expect(made).toBe(15);
    expect((await count('busy')) + removed).toBeLessThanOrEqual(made);
  });
});

describe('places for collections', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({}, {}, { places: placeLimits });
  });
  afterAll(() => bed.close());

  const project = (number: number) => ({ ...testProject, id: `p${number}`, number });
  const make = (identity: Identity, name: string) =>
    bed.call('POST', `/db/${name}`, { identity, body: { data: { a: 1 } } });
  const makeAll = async (identity: Identity, prefix: string, most: number) => {
    const answers = [];
    // In pairs, of which one may be the last that has a place.
    for (let n = 0; n < most; n += 2)
      answers.push(
        ...(await Promise.all([n, n + 1].map((each) => make(identity, `${prefix}${each}`)))),
      );
    return {
      made: answers.filter(({ status }) => status === 201).length,
      refused: answers.filter(({ body }) => body.code === 'collection_limit').length,
    };
  };

  it('are taken by visitors to a tenth, by users to a half', async () => {
    const own = { project: project(3100) };
    expect(await makeAll(anonymous(own), 'v', 14)).toEqual({ made: 10, refused: 4 });
    expect(await makeAll(asUser(ada, own), 'u', 44)).toEqual({ made: 40, refused: 4 });
    expect(await makeAll(asUser(bob, own), 'w', 2)).toEqual({ made: 0, refused: 2 });
    expect(await makeAll(asKey(own), 'k', 52)).toEqual({ made: 50, refused: 2 });
    const refused = await make(anonymous(own), 'more');
    expect(refused.body.hint).toContain('/platform/projects/p3100/collections/');
    // What is there takes more records.
    expect((await make(anonymous(own), 'u1')).status).toBe(201);
  });

  it('are given back by collections without records and settings of their own', async () => {
    const own = { project: project(3101) };
    const visitor = anonymous(own);
    for (let n = 0; n < 10; n++) {
      const { body } = await make(visitor, `v${n}`);
      expect((await bed.call('DELETE', `/db/v${n}/${body.id}`, { identity: visitor })).status).toBe(
        200,
      );
    }
    await bed.call('PUT', `${collectionsOf('p3101')}/v0`, {
      identity: asOwner(own),
      body: { access: 'private' },
    });
    bed.clock.pass(61_000);
    expect(await makeAll(visitor, 'x', 12)).toEqual({ made: 9, refused: 3 });
    const { items } = (await bed.call('GET', collectionsOf('p3101'), { identity: asOwner(own) }))
      .body;
    expect(items.map(({ name }: { name: string }) => name)).toContain('v0');
    expect(items).toHaveLength(10);
  });

  it('come back with what a write brought that was under way when it was given up', async () => {
    const own = { project: project(3102) };
    const visitor = anonymous(own);
    for (let n = 0; n < 10; n++) {
      const { body } = await make(visitor, `v${n}`);
      if (n === 0) await bed.call('DELETE', `/db/v0/${body.id}`, { identity: visitor });
    }
    bed.clock.pass(61_000);
    expect((await make(visitor, 'next')).status).toBe(201);
    // As that write leaves it.
    await bed.database.query(
      `INSERT INTO records (project_id, coll_id, id, created_at, updated_at, data)
       SELECT project_id, coll_id, uuidv7(), now(), now(), '{"late":true}' FROM collections WHERE project_id = 3102 AND former_name = 'v0'`,
    );
    await letTimePass(bed);
    await until(async () => {
      const { body } = await bed.call('GET', '/db/v0', { identity: visitor });
      return body.items.length === 1 && body.items[0].late;
    });
  });
});
