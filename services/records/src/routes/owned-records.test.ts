import { recordRoutes } from '@backlot/contract';
import { asKey, asOwner, asUser, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

describe('listOwnedRecords', () => {
  let bed: TestBed;
  const theirs: unknown[] = [];
  beforeAll(async () => {
    bed = await createTestBed();
    for (const name of ['posts', 'letters', 'empty']) {
      const body = { access: name === 'posts' ? 'members' : 'private' };
      const path = `/platform/projects/${testProject.id}/collections/${name}`;
      await bed.call('PUT', path, { identity: asOwner(), body });
      if (name === 'empty') continue;
      for (let n = 0; n < 4; n++) {
        await bed.create(name, { n }, asUser(bob));
        const record = await bed.create(name, { n, text: 'Zoë 🦓' }, asUser(ada));
        theirs.push({ collection: name, record });
      }
    }
    await bed.create('posts', {}, asUser(ada, { project: { ...testProject, number: 4711 } }));
  });
  afterAll(() => bed.close());

  const path = `/platform/projects/${testProject.id}/users/${ada}/records`;
  const list = (query = '', identity = asOwner()) =>
    bed.call('GET', `${path}${query}`, { identity });
  const readAll = async (limit: number) => {
    const items: unknown[] = [];
    let cursor: string | null = null;
    do {
      const { status, body } = await list(`?limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`);
      expect(status).toBe(200);
      expect(body.items.length).toBeLessThanOrEqual(limit);
      items.push(...body.items);
      cursor = body.nextCursor;
    } while (cursor);
    return items;
  };

  refusesStrangers(
    recordRoutes.listOwnedRecords,
    () => bed.http,
    () => ({ path: `/projects/${testProject.id}/users/${ada}/records` }),
  );

  it.each([1, 3, 4, 100])('answers each record of the user once, %i a page', async (limit) => {
    expect(await readAll(limit)).toEqual(theirs);
  });

  it('ends a page at a megabyte', async () => {
    const text = 'x'.repeat(600_000);
    const big = [1, 2, 3].map(() => bed.create('posts', { text }, asUser(ada)));
    const ids = (await Promise.all(big)).map(({ id }) => id).sort();
    const first = (await list()).body;
    const found = (await readAll(100)) as { record: { id: string } }[];
    const large = found.map(({ record }) => record.id).filter((id) => ids.includes(id));
    expect(first.items.length).toBeLessThan(found.length);
    expect(large).toEqual(ids);
    for (const id of ids) await bed.call('DELETE', `/db/posts/${id}`, { identity: asOwner() });
  });

  it('is for owners, of users that there are and of others', async () => {
    expect((await list('', asKey())).status).toBe(403);
    expect((await list('?cursor=made-up')).body.code).toBe('invalid_cursor');
    expect((await list('?limit=0')).body.items).toEqual([]);
    const nobody = path.replace(ada, 'nonsense');
    const answer = await bed.call('GET', nobody, { identity: asOwner() });
    expect(answer).toMatchObject({ status: 200, body: { items: [], hasMore: false } });
  });
});
