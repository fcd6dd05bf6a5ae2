import { type CollectionShape, shapeRoutes } from '@backlot/contract';
import { internalIdentity } from '@backlot/identity';
import { asKey, asOwner, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

const controlPath = (rest: string, id = testProject.id) => `/platform/projects/${id}${rest}`;

describe('shape', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
    for (let n = 0; n < 6; n++)
      await bed.create('todos', { title: `Todo number ${n}`, status: n % 2 ? 'open' : 'done' });
    await bed.call('PUT', controlPath('/collections/empty'), {
      identity: asOwner(),
      body: { access: 'locked' },
    });
    const other = asKey({ project: { ...testProject, id: 'other', number: 77 } });
    await bed.create('secrets', { hidden: 1 }, other);
  });
  afterAll(() => bed.close());

  for (const [route, path] of [
    [shapeRoutes.getProjectShape, '/projects/testproject/shape'],
    [shapeRoutes.getCollectionShape, '/projects/testproject/collections/todos/shape'],
  ] as const) {
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path }),
    );
  }

  const shape = async (rest = '/shape', identity = asKey()) => {
    const { status, body } = await bed.call('GET', controlPath(rest), { identity });
    expect(status).toBe(200);
    return body;
  };
  const todos = {
    name: 'todos',
    access: 'shared',
    count: 6,
    sampled: 6,
    fields: [
      { path: 'status', types: ['string'], share: 1, values: ['done', 'open'] },
      { path: 'title', types: ['string'], share: 1 },
    ],
    hasMoreFields: false,
  };

  it('has every collection of the project, for its owner and its keys', async () => {
    const empty = { name: 'empty', access: 'locked', count: 0, sampled: 0 };
    const expected = { collections: [{ ...empty, fields: [], hasMoreFields: false }, todos] };
    expect(await shape()).toEqual(expected);
    expect(await shape('/shape', asOwner())).toEqual(expected);
  });

  it('is there for one collection, and none that does not exist', async () => {
    expect(await shape('/collections/todos/shape')).toEqual(todos);
    for (const name of ['nothing', 'secrets', "'", '%F0%9F%94%91']) {
      const identity = asKey();
      expect(
        await bed.call('GET', controlPath(`/collections/${name}/shape`), { identity }),
      ).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
  });

  it('tells the gateway the same, and nobody else', async () => {
    const { id, number, ownerId } = testProject;
    const body = { project: { id, number, ownerId }, ip: '192.0.2.1' };
    const ask = (identity = internalIdentity, asked: unknown = body) =>
      bed.call('POST', '/internal/shapes', { identity, body: asked });
    expect((await ask()).body).toEqual((await shape()).collections);
    expect((await ask(asOwner())).status).toBe(401);
    expect((await ask(asKey())).status).toBe(401);
    expect(await ask(internalIdentity, { ip: 1 })).toMatchObject({ status: 400 });
  });

  it('looks at the newest records and at some of the older ones', async () => {
    await bed.create('history', { old: 1 });
    for (const [name, rows] of Object.entries({ middle: 400, new: 500 })) {
      const create = Array.from({ length: rows }, () => ({ data: { [name]: 1 } }));
      const batch = { identity: asKey(), body: { create } };
      expect((await bed.call('POST', '/db/history/_batch', batch)).status).toBe(200);
    }
    const { count, sampled, fields } = await shape('/collections/history/shape');
    expect(count).toBe(901);
    expect(sampled).toBeGreaterThan(500);
    expect(sampled).toBeLessThanOrEqual(1000);
    const names = fields.map(({ path }: { path: string }) => path);
    expect(names.slice(0, 2)).toEqual(['new', 'middle']);
  });

  it('reads no more than a mebibyte of large records, and one at least', async () => {
    for (let n = 0; n < 3; n++) await bed.create('large', { [`f${n}`]: 'x'.repeat(600_000) });
    expect(await shape('/collections/large/shape')).toMatchObject({ count: 3, sampled: 2 });
  });

  it('shows the fields of so many collections as make 5,000 together', async () => {
    const wide = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`field${n}`, n]));
    const key = asKey({ project: { ...testProject, id: 'wide', number: 88 } });
    for (let n = 100; n < 127; n++) await bed.create(`wide${n}`, wide, key);
    const { status, body } = await bed.call('GET', controlPath('/shape', 'wide'), {
      identity: key,
    });
    expect([status, body.collections.length]).toEqual([200, 27]);
    const sampled = body.collections.filter(({ fields }: CollectionShape) => fields.length > 0);
    expect(sampled.length).toBeLessThanOrEqual(25);
    const last = { name: 'wide126', count: 1, sampled: 0, fields: [], hasMoreFields: false };
    expect(body.collections.at(-1)).toMatchObject(last);
    const one = await bed.call('GET', controlPath('/collections/wide126/shape', 'wide'), {
      identity: key,
    });
    expect(one.body).toMatchObject({ sampled: 1, hasMoreFields: false });
    expect(one.body.fields).toHaveLength(200);
  });

  it('tells which fields have an index that is ready', async () => {
    await bed.create('indexed', { city: 'Rome', n: 1 });
    await bed.call('PUT', controlPath('/collections/indexed'), {
      identity: asOwner(),
      body: { indexes: ['city'] },
    });
    await bed.database.query("UPDATE slots SET state = 'ready' WHERE field = 'city'");
    expect((await shape('/collections/indexed/shape')).fields).toEqual([
      { path: 'city', types: ['string'], share: 1, isIndexed: true },
      { path: 'n', types: ['number'], share: 1 },
    ]);
  });
});
