import { randomUUID } from 'node:crypto';
import { projectRoutes } from '@backlot/contract';
import { refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerA, ownerB, type TestBed } from '../testing/test-bed.ts';

describe('listProjects', () => {
  let bed: TestBed;
  const ids: string[] = [];
  let foreign: string;
  beforeAll(async () => {
    bed = await createTestBed();
    for (let n = 0; n < 5; n++) {
      // Two of them at the same instant.
      if (n !== 3) bed.pass(1000);
      ids.push(await bed.project());
    }
    foreign = await bed.project(ownerB);
  });
  afterAll(() => bed.close());
  refusesStrangers(
    projectRoutes.listProjects,
    () => bed.http,
    () => ({ path: '/projects' }),
  );

  const list = async (query = '', ownerId = ownerA) =>
    bed.call('GET', `/platform/projects${query}`, { identity: await bed.owner(ownerId) });
  const projectIds = (items: { id: string }[]) => items.map((project) => project.id);

  it("lists the caller's projects alone, newest first, page by page, each once", async () => {
    const seen: string[] = [];
    let query = '?limit=2';
    for (let page = 0; page < 3; page++) {
      const { status, body } = await list(query);
      expect(status).toBe(200);
      seen.push(...projectIds(body.items));
      expect(body.hasMore).toBe(page < 2);
      expect(body.nextCursor === null).toBe(page === 2);
      query = `?limit=2&cursor=${body.nextCursor}`;
    }
    expect([...seen].sort()).toEqual([...ids].sort());
    expect(seen[0]).toBe(ids[4]);
    expect(seen[4]).toBe(ids[0]);
    expect(projectIds((await list('', ownerB)).body.items)).toEqual([foreign]);
  });

  it('finds them by how name or id begin, and for the operator by owner', async () => {
    const id = await bed.project();
    await bed.call('PATCH', `/platform/projects/${id}`, {
      identity: await bed.owner(ownerA, id),
      body: { name: 'Zebra_100%' },
    });
    for (const q of ['zebra', 'Zebra_100%', id.slice(0, 8).toUpperCase()])
      expect(projectIds((await list(`?q=${encodeURIComponent(q)}`)).body.items)).toEqual([id]);
    for (const q of ['ebra', '%', '_ebra'])
      expect((await list(`?q=${encodeURIComponent(q)}`)).body.items).toEqual([]);
    expect((await list('?q=zebra', ownerB)).body.items).toEqual([]);
    expect((await list(`?ownerId=${ownerB}`)).body.items).toEqual([]);
    const operator = { identity: await bed.operator() };
    const all = await bed.call('GET', `/platform/projects?ownerId=${ownerB}`, operator);
    expect(projectIds(all.body.items)).toEqual([foreign]);
    await bed.call('DELETE', `/platform/projects/${id}`, { identity: await bed.owner(ownerA, id) });
    await bed.database.query('DELETE FROM projects WHERE id = $1', [id]);
  });

  it('finds the one that has an external id, which its owner gives once', async () => {
    const owner = randomUUID();
    const call = async (method: string, path: string, body?: object, id?: string) =>
      bed.call(method, `/platform/projects${path}`, {
        identity: await bed.owner(owner, id),
        ...(body && { body }),
      });
    const externalId = 'order 7/ž';
    const made = await Promise.all(
      Array.from({ length: 4 }, () => call('POST', '', { name: 'Shop', externalId })),
    );
    expect(made.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    const { id } = made.find(({ status }) => status === 201)?.body ?? {};
    const found = `?externalId=${encodeURIComponent(externalId)}`;
    expect((await call('GET', found)).body.items).toEqual([
      expect.objectContaining({ id, externalId }),
    ]);
    expect((await call('GET', '?externalId=order')).body.items).toEqual([]);
    expect((await list(found, ownerB)).body.items).toEqual([]);
    const operator = { identity: await bed.operator() };
    expect(
      projectIds((await bed.call('GET', `/platform/projects${found}`, operator)).body.items),
    ).toEqual([id]);

    const other = await bed.project(owner);
    const rename = (to: string | null, of = other) =>
      call('PATCH', `/${of}`, { externalId: to }, of);
    expect(await rename(externalId)).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect((await rename(externalId, id)).status).toBe(200);
    await call('DELETE', `/${id}`, undefined, id);
    expect((await rename(externalId)).body).toMatchObject({ id: other, externalId });
    expect(await call('POST', `/${id}/restore`, undefined, id)).toMatchObject({ status: 409 });
    expect((await rename(null)).body).not.toHaveProperty('externalId');
    expect((await call('POST', `/${id}/restore`, undefined, id)).body).toMatchObject({
      id,
      externalId,
    });
    expect((await call('POST', '', { name: 'Shop', externalId: '' })).status).toBe(400);
    expect((await rename('a\nb')).status).toBe(400);
  });

  it('finds them by the whole name in any case, and by state', async () => {
    const owner = randomUUID();
    const [paused, gone, active] = [
      await bed.project(owner),
      await bed.project(owner),
      await bed.project(owner),
    ];
    const change = async (method: string, id: string, body?: object) =>
      bed.call(method, `/platform/projects/${id}`, {
        identity: await bed.owner(owner, id),
        ...(body && { body }),
      });
    await change('PATCH', paused, { status: 'paused', name: 'Ärger 100%' });
    await change('PATCH', gone, { status: 'paused' });
    await change('DELETE', gone);
    const find = async (query: string) => projectIds((await list(query, owner)).body.items);
    expect(await find('?status=paused')).toEqual([paused]);
    expect(await find('?status=deleted')).toEqual([gone]);
    expect(await find('?status=active')).toEqual([active]);
    expect(await find(`?name=${encodeURIComponent('ärger 100%')}`)).toEqual([paused]);
    expect(await find('?name=%25rger')).toEqual([]);
    expect(await list('?status=gone', owner)).toMatchObject({ status: 400 });
    const operator = { identity: await bed.operator() };
    const all = await bed.call('GET', '/platform/projects?status=deleted', operator);
    expect(projectIds(all.body.items)).toContain(gone);
  });

  it('gives no items for a limit of 0 and at most 1,000 for more', async () => {
    expect((await list('?limit=0')).body).toEqual({ items: [], hasMore: true, nextCursor: null });
    expect((await list('?limit=100000')).body.items).toHaveLength(5);
  });

  it('keeps deleted projects in the list, so that they can be found and restored', async () => {
    const id = await bed.project();
    await bed.call('DELETE', `/platform/projects/${id}`, { identity: await bed.owner(ownerA, id) });
    const { body } = await list();
    expect(body.items.find((project: { id: string }) => project.id === id)).toMatchObject({
      status: 'deleted',
    });
  });

  it('lists all projects, the built-in one too, for the operator', async () => {
    const { body } = await bed.call('GET', '/platform/projects', {
      identity: await bed.operator(),
    });
    expect(projectIds(body.items)).toEqual(expect.arrayContaining([...ids, foreign, 'platform']));
  });

  it.each(['?limit=-1', '?limit=1.5', '?limit=x', '?limit=1&limit=2'])(
    'refuses %s',
    async (query) => {
      expect(await list(query)).toMatchObject({ status: 400, body: { code: 'invalid_query' } });
    },
  );

  it("refuses a made-up cursor and another list's", async () => {
    const id = ids[0] ?? '';
    const identity = await bed.owner(ownerA, id);
    const path = `/platform/projects/${id}/keys`;
    for (const name of ['one', 'two']) await bed.call('POST', path, { identity, body: { name } });
    const ofKeys = await bed.call('GET', `${path}?limit=1`, { identity });
    const madeUp = ['', 'x', '%00', Buffer.from('["projects",1e99,"a"]').toString('base64url')];
    for (const cursor of [...madeUp, ofKeys.body.nextCursor]) {
      expect(await list(`?cursor=${cursor}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_cursor' },
      });
    }
  });

  it('ends a page early where settings are large, and leaves none out', async () => {
    const ownerId = randomUUID();
    const emailAllowList = Array.from(
      { length: 1000 },
      (_, n) => `${n}.${'x'.repeat(50)}@${`${'y'.repeat(60)}.`.repeat(3)}example`,
    );
    const large = await Promise.all(Array.from({ length: 6 }, () => bed.project(ownerId)));
    for (const id of large)
      await bed.database.query('UPDATE projects SET settings = $2 WHERE id = $1', [
        id,
        JSON.stringify({ emailAllowList }),
      ]);
    const first = await list('?limit=1000', ownerId);
    expect(first.body).toMatchObject({ hasMore: true, nextCursor: expect.any(String) });
    expect(JSON.stringify(first.body).length).toBeLessThan(1_500_000);
    const second = await list(`?limit=1000&cursor=${first.body.nextCursor}`, ownerId);
    expect(second.body.hasMore).toBe(false);
    const all = [...first.body.items, ...second.body.items];
    expect(projectIds(all).sort()).toEqual([...large].sort());
    expect(all[0].settings).toEqual({ emailAllowList });
  });
});
