import { randomInt } from 'node:crypto';
import { recordRoutes } from '@backlot/contract';
import {
  anonymous,
  asKey,
  asOperator,
  asOwner,
  asUser,
  refusesStrangers,
  testProject,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { maxCollections } from '../collections/table/places.ts';
import { ada, createTestBed, type TestBed } from '../testing/test-bed.ts';

const project = (changes: object) => ({ ...testProject, ...changes });

describe('collections', () => {
  let bed: TestBed;
  const path = (name = '', id = testProject.id) =>
    `/platform/projects/${id}/collections${name && `/${name}`}`;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it('are listed by name with access, size and age', async () => {
    await bed.create('notes', { n: 1 });
    await bed.create('notes', { n: 2 });
    await bed.call('PUT', path('archive'), { identity: asOwner(), body: { access: 'locked' } });
    const { status, body } = await bed.call('GET', path(), { identity: asOwner() });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      items: [
        { name: 'archive', access: 'locked', count: 0 },
        { name: 'notes', access: 'shared', count: 2 },
      ],
      hasMore: false,
      nextCursor: null,
    });
    expect((await bed.call('GET', path(), { identity: asOperator() })).body).toEqual(body);
    expect((await bed.call('GET', path('', 'other'), { identity: asOwner() })).status).toBe(404);
    expect(
      (
        await bed.call('PUT', path('notes', 'other'), {
          identity: asOwner(),
          body: { access: 'locked' },
        })
      ).status,
    ).toBe(404);
  });

  it('are listed without a look at their records', async () => {
    const list = () => bed.call('GET', path(), { identity: asOwner() });
    await bed.create('notes', { n: 3 });
    const before = (await list()).body;
    const { ownerDatabase } = bed;
    await ownerDatabase.transaction(async () => {
      await ownerDatabase.query('LOCK TABLE records, search_texts, unique_values');
      expect((await list()).body).toEqual(before);
    });
  });

  it('change their access at once', async () => {
    const made = await bed.create('doors', {});
    const read = () => bed.call('GET', `/db/doors/${made.id}`);
    expect((await read()).status).toBe(200);
    for (const [access, status] of [
      ['locked', 401],
      ['public-read', 200],
      ['members', 401],
    ] as const) {
      const set = await bed.call('PUT', path('doors'), { identity: asOwner(), body: { access } });
      expect(set).toMatchObject({ status: 200, body: { name: 'doors', access, count: 1 } });
      expect((await read()).status).toBe(status);
    }
    expect(
      (await bed.call('PUT', path('doors'), { identity: asOwner(), body: { access: 'open' } }))
        .status,
    ).toBe(400);
  });

  it('notice within five seconds what another process changed', async () => {
    const made = await bed.create('elsewhere', {});
    await bed.database.query(`UPDATE collections SET access = 'locked' WHERE name = 'elsewhere'`);
    bed.clock.pass(5001);
    expect((await bed.call('GET', `/db/elsewhere/${made.id}`)).status).toBe(401);
  });

  it('begin with the project’s default access', async () => {
    const settings = { defaultAccess: 'private' };
    const members = project({ id: 'members', number: 3001, settings });
    const refused = await bed.call('POST', '/db/diary', {
      identity: anonymous({ project: members }),
      body: { data: {} },
    });
    expect(refused.status).toBe(401);
    expect(
      (await bed.call('GET', path('', 'members'), { identity: asOwner({ project: members }) })).body
        .items,
    ).toEqual([]);
    const made = await bed.create('diary', {}, asUser(ada, { project: members }));
    expect(made.ownerId).toBe(ada);
    expect(
      (await bed.call('GET', path('', 'members'), { identity: asOwner({ project: members }) })).body
        .items,
    ).toMatchObject([{ name: 'diary', access: 'private' }]);
  });

  it('are created by the project’s own callers alone where the owner says so', async () => {
    const closed = project({ id: 'closed', number: 3002, settings: { createCollections: false } });
    for (const identity of [anonymous({ project: closed }), asUser(ada, { project: closed })]) {
      expect(await bed.call('POST', '/db/new', { identity, body: { data: {} } })).toMatchObject({
        status: 403,
        body: { code: 'collection_creation_off' },
      });
    }
    await bed.create('new', {}, asKey({ project: closed }));
    await bed.create('new', {}, asUser(ada, { project: closed }));
  });

  it('are at most 100 a project, however many are created at once', async () => {
    const full = project({ id: 'full', number: 3003 });
    const identity = asKey({ project: full });
    const answers = await Promise.all(
      Array.from({ length: maxCollections + 20 }, (_, i) =>
        bed.call('POST', `/db/c${i % (maxCollections + 10)}`, { identity, body: { data: { i } } }),
      ),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      refused.map(() => [403, 'collection_limit']),
    );
    const { items } = (
      await bed.call('GET', path('', 'full'), { identity: asOwner({ project: full }) })
    ).body;
    expect(items).toHaveLength(maxCollections);
    const counted = items.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
    expect(counted).toBe(answers.length - refused.length);
    const put = await bed.call('PUT', path('onemore', 'full'), {
      identity: asOwner({ project: full }),
      body: { access: 'locked' },
    });
    expect(put).toMatchObject({ status: 403, body: { code: 'collection_limit' } });
  });

  it('name fields by 300 letters at most, since lists of collections show them', async () => {
    const set = (body: object) => bed.call('PUT', path('named'), { identity: asOwner(), body });
    const field = (letters: number) =>
      Array.from({ length: letters }, () => String.fromCodePoint(0x4e00 + randomInt(20_000))).join(
        '',
      );
    for (const setting of ['indexes', 'unique', 'search'])
      expect(await set({ [setting]: ['title', field(301)] })).toMatchObject({
        status: 400,
        body: { code: 'invalid_body', error: expect.stringContaining(setting) },
      });
    for (const setting of ['indexes', 'unique', 'search'])
      expect((await set({ [setting]: [field(300)] })).status).toBe(200);
    for (const setting of ['indexes', 'unique', 'search'])
      expect((await set({ [setting]: [field(5000)] })).status).toBe(400);
  });

  it('do not outlive a call that failed with an Idempotency-Key', async () => {
    const body = { data: { large: 'x'.repeat(100), $bad: 1 } };
    const headers = { 'idempotency-key': 'fails' };
    expect((await bed.call('POST', '/db/ghost', { headers, body })).status).toBe(400);
    expect((await bed.call('GET', path(), { identity: asOwner() })).body.items).not.toContainEqual(
      expect.objectContaining({ name: 'ghost' }),
    );
  });

  for (const definition of [
    recordRoutes.listCollections,
    recordRoutes.setCollectionAccess,
    recordRoutes.renameCollection,
    recordRoutes.deleteCollection,
  ]) {
    refusesStrangers(
      definition,
      () => bed.http,
      () => ({
        path: definition.path.replace(':projectId', testProject.id).replace(':collection', 'notes'),
        body: definition.method === 'PATCH' ? { name: 'notes' } : { access: 'shared' },
      }),
    );
  }
});
