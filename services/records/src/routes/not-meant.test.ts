import { asOwner, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, createTestBed, type TestBed } from '../testing/test-bed.ts';

/** Calls that were answered with 200 and did something else than their callers meant. */
describe('what was probably meant otherwise', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
    for (const n of [1, 2, 3])
      await bed.create('tasks', { title: `t${n}`, priority: n, o: { p: n } }, asUser(ada));
  });
  afterAll(() => bed.close());

  const get = (query: string) => bed.call('GET', `/db/tasks${query}`);
  const set = (body: object) =>
    bed.call('PUT', `/platform/projects/${testProject.id}/collections/tasks`, {
      identity: asOwner(),
      body,
    });

  it.each([
    ['unique', ['post+user']],
    ['unique', ['post,user']],
    ['unique', [['post']]],
    ['indexes', ['post,user']],
    ['search', ['title, body']],
  ])('%s: %j is refused, and changes nothing', async (setting, value) => {
    const { status, body } = await set({ [setting]: value });
    expect([status, body.code]).toEqual([400, 'invalid_body']);
    expect(body.error).toContain(setting);
    const { items } = (
      await bed.call('GET', `/platform/projects/${testProject.id}/collections`, {
        identity: asOwner(),
      })
    ).body;
    expect(items).toMatchObject([{ name: 'tasks', unique: [], indexes: [], search: null }]);
  });

  it('fields in one name that are to be unique are refused with what works', async () => {
    const { body } = await set({ unique: ['post+user'] });
    expect(body.error).toContain('post+user');
    expect(body.hint).toContain('{"unique":[["post","user"]]}');
  });

  it.each(['post+user', 'due:day', 'createdAt:hour', 'createdAt:Month', 'day(createdAt)'])(
    'group=%s is refused by name, with what works',
    async (group) => {
      const { status, body } = await get(`/_aggregate?group=${encodeURIComponent(group)}`);
      expect([status, body.code]).toEqual([400, 'invalid_query']);
      expect(body.error).toContain(group);
      expect(body.hint).toMatch(/group/);
    },
  );

  it.each(['random()', 'RAND()', 'lower(title)'])('sort=%s is refused', async (sort) => {
    const { status, body } = await get(`?sort=${sort}`);
    expect([status, body.code]).toEqual([400, 'invalid_sort']);
    expect(body.error).toContain(sort);
  });

  it.each([
    ['?sort=-prioritty', 'priority'],
    ['?sort=titel,priority', 'title'],
    ['?sort=random', 'no random order'],
    ['?fields=titel', 'title'],
    ['/_aggregate?group=titel', 'title'],
    ['/_aggregate?sum=prioritty', 'priority'],
    ['/_aggregate?group=title&max=prioritty', 'priority'],
    ['/_aggregate?group=title,prioritty', 'priority'],
    ['/_aggregate?distinct=titel', 'title'],
  ])('%s goes on, with a hint', async (query, hint) => {
    const { status, body } = await get(query);
    expect(status).toBe(200);
    expect((body.items ?? body.groups).length).toBeGreaterThan(0);
    expect(body.hint).toContain(hint);
  });

  it.each(['?sort=-priority', '?sort=o.p', '?sort=-updatedAt', '?fields=title,createdAt,ownerId'])(
    '%s has no hint',
    async (query) => {
      expect((await get(query)).body.hint).toBeUndefined();
    },
  );

  it('fields of a collection that is empty are no mistake', async () => {
    await bed.call('PUT', `/platform/projects/${testProject.id}/collections/none`, {
      identity: asOwner(),
      body: {},
    });
    for (const query of ['?sort=rank', '/_aggregate?group=kind&sum=rank']) {
      const { status, body } = await bed.call('GET', `/db/none${query}`);
      expect([status, body.hint]).toEqual([200, undefined]);
    }
  });

  it.each(['o.p', 'title,o.p', '$title'])(
    'fields=%s can not be, and is refused',
    async (fields) => {
      const { status, body } = await get(`?fields=${fields}`);
      expect([status, body.code]).toEqual([400, 'invalid_query']);
      expect(body.error).toContain(fields.split(',').at(-1));
    },
  );

  it.each([
    ['?limit=5000', 'limit=5000'],
    ['?where={"ownerId":"me"}', 'mine=1'],
    ['?where={"ownerId":{"$in":["self"]}}', 'mine=1'],
    ['/_count?where={"ownerId":"me"}', 'mine=1'],
    ['?where={"id":"12"}', 'UUIDs'],
  ])('%s says so in a header', async (query, hint) => {
    const { status, headers } = await get(query);
    expect(status).toBe(200);
    expect(headers.get('backlot-hint')).toContain(hint);
  });

  it('limit=1000 is no mistake', async () => {
    expect((await get('?limit=1000')).headers.get('backlot-hint')).toBeNull();
  });
});
