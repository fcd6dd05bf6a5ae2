import { anonymous, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, createTestBed, type TestBed } from '../testing/test-bed.ts';

/** What people and code generators bring from Supabase, Firebase, PocketBase and Parse. */
describe('what /db does not know', () => {
  let bed: TestBed;
  let id: string;
  beforeAll(async () => {
    bed = await createTestBed();
    id = (await bed.create('todos', { title: 'x' }, asUser(ada))).id;
  });
  afterAll(() => bed.close());

  const refuse = async (query: string): Promise<string> => {
    const { status, body } = await bed.call('GET', `/db/todos?${query}`);
    expect([status, body.code, body.items]).toEqual([400, 'invalid_query', undefined]);
    expect(body.error).toContain(`"${query.slice(0, query.indexOf('='))}"`);
    expect(body.error).toContain('where, mine, sort, limit, offset, cursor');
    return body.error;
  };

  it.each([
    ['filter={"title":"y"}', 'where'],
    ['search=y', 'where'],
    ['q=y', 'where'],
    ['order=title', 'sort'],
    ['orderBy=title', 'sort'],
    ['page=2', 'offset'],
    ['per_page=5', 'limit'],
    ['limti=5', 'limit'],
    ['startAfter=x', 'cursor'],
  ])('refuses a list with ?%s and leads to %s', async (query, nearest) => {
    expect(await refuse(query)).toContain(`did you mean "${nearest}"?`);
  });

  it.each(['column=todo', 'fields=title', 'expand=owner'])(
    'refuses a list with ?%s and names what it knows',
    async (query) => {
      expect(await refuse(query)).not.toContain('did you mean');
    },
  );

  it('refuses a count with what only a list takes', async () => {
    for (const query of ['filter={}', 'limit=5', 'sort=title']) {
      const { status, body } = await bed.call('GET', `/db/todos/_count?${query}`);
      expect([status, body.code]).toEqual([400, 'invalid_query']);
      expect(body.error).toContain('where, mine');
    }
  });

  it('refuses parameters of calls that take none, and changes nothing', async () => {
    const identity = asUser(ada);
    const body = { data: { title: 'y' } };
    const calls: [string, string, object][] = [
      ['GET', `/db/todos/${id}?select=title`, {}],
      ['POST', '/db/newly?select=title', { body }],
      ['PATCH', `/db/todos/${id}?merge=true`, { body }],
      ['PUT', `/db/todos/${id}?merge=true`, { body }],
      ['DELETE', `/db/todos/${id}?where={}`, {}],
    ];
    for (const [method, path, request] of calls) {
      const answer = await bed.call(method, path, { identity, ...request });
      expect([method, answer.status, answer.body.code]).toEqual([method, 400, 'invalid_query']);
    }
    expect((await bed.call('GET', `/db/todos/${id}`)).body.title).toBe('x');
    const collections = await bed.database.query<{ name: string }>(
      'SELECT name FROM collections WHERE project_id = $1',
      [testProject.number],
    );
    expect(collections).toEqual([{ name: 'todos' }]);
  });

  it('lets a cache buster pass everywhere', async () => {
    const identity = asUser(ada);
    for (const path of ['/db/todos', '/db/todos/_count', `/db/todos/${id}`])
      expect((await bed.call('GET', `${path}?_=1700000000`)).status).toBe(200);
    const body = { data: { title: 'x' } };
    const patched = await bed.call('PATCH', `/db/todos/${id}?_=1`, { identity, body });
    expect(patched.status).toBe(200);
  });

  it('stores `data` where more was sent beside it, and says what was ignored', async () => {
    const body = { data: { title: 'z' }, sharedWith: ['bob'], acl: { read: '*' } };
    const hint = 'Ignored field: "sharedWith", "acl". Known here: data.';
    const made = await bed.call('POST', '/db/todos', { identity: anonymous(), body });
    expect([made.status, made.headers.get('backlot-hint')]).toEqual([201, hint]);
    const { id: madeId, title, ...rest } = made.body;
    expect(title).toBe('z');
    expect(Object.keys(rest).sort()).toEqual(['createdAt', 'ownerId', 'updatedAt']);
    const path = `/db/todos/${madeId}`;
    const replaced = await bed.call('PUT', path, { body });
    expect([replaced.status, replaced.headers.get('backlot-hint')]).toEqual([200, hint]);
    const patched = await bed.call('PATCH', path, {
      body: { data: { n: 1 }, increment: { n: 1 } },
    });
    expect(patched.status).toBe(200);
    expect(patched.headers.get('backlot-hint')).toContain('Ignored field: "increment"');
    const known = await bed.call('PATCH', path, {
      body: { data: { sharedWith: [] }, unset: ['n'] },
    });
    expect([known.status, known.headers.get('backlot-hint')]).toEqual([200, null]);
  });
});
