import { anonymous, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, createTestBed, type TestBed } from '../testing/test-bed.ts';

const unknownId = '018f0000-0000-7000-8000-000000000000';

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
    expect(body.error).toContain(
      'where, mine, group, search, sort, limit, offset, cursor, fields, include, total',
    );
    return body.error;
  };

  it.each([
    ['filter={"title":"y"}', 'where'],
    ['query=y', 'where'],
    ['q=y', 'search'],
    ['order=title', 'sort'],
    ['orderBy=title', 'sort'],
    ['page=2', 'offset'],
    ['per_page=5', 'limit'],
    ['limti=5', 'limit'],
    ['startAfter=x', 'cursor'],
    ['select=title', 'fields'],
    ['expand=owner', 'include'],
    ['withCount=1', 'total'],
  ])('refuses a list with ?%s and leads to %s', async (query, nearest) => {
    expect(await refuse(query)).toContain(`did you mean "${nearest}"?`);
  });

  it.each(['column=todo', 'zzz=title'])(
    'refuses a list with ?%s and names what it knows',
    async (query) => {
      expect(await refuse(query)).not.toContain('did you mean');
    },
  );

  it('refuses a count with what only a list takes', async () => {
    for (const query of ['filter={}', 'limit=5', 'sort=title']) {
      const { status, body } = await bed.call('GET', `/db/todos/_count?${query}`);
      expect([status, body.code]).toEqual([400, 'invalid_query']);
      expect(body.error).toContain('where, mine, group');
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

  const listBy = (name: string, value: string) =>
    bed.call('GET', `/db/todos?${name}=${encodeURIComponent(value)}`);

  it.each([
    ['{"title":{"contains":"x"}}', '{"title":{"$contains":...}}?'],
    ['{"title":{"ilike":"%x%"}}', '{"title":{"$contains":...}}?'],
    ['{"n":{"gte":1,"lt":5}}', '{"n":{"$gte":...}}?'],
    ['{"$or":[{"a":1},{"b":{"not_in":[1]}}]}', '{"b":{"$nin":...}}?'],
  ])(
    'compares with the object in where=%s, and says in a header how operators are written',
    async (where, hint) => {
      for (const path of ['/db/todos', '/db/todos/_count']) {
        const { status, headers } = await bed.call(
          'GET',
          `${path}?where=${encodeURIComponent(where)}`,
        );
        expect([path, status]).toEqual([path, 200]);
        expect(headers.get('backlot-hint')).toContain(
          `Operators begin with "$": did you mean ${hint}`,
        );
      }
    },
  );

  it.each(['{"address":{"city":"Bern","size":2}}', '{"title":"contains"}', '{"a":{}}', '{}'])(
    'says nothing of where=%s',
    async (where) => {
      const { status, headers } = await listBy('where', where);
      expect([status, headers.get('backlot-hint')]).toEqual([200, null]);
    },
  );

  it.each([
    ['{"title":{"$ilike":"x"}}', 'Did you mean "$contains"?'],
    ['{"title":{"$like":"x"}}', 'Did you mean "$contains"?'],
    ['{"title":{"$icontains":"x"}}', 'Did you mean "$contains"?'],
    ['{"title":{"$regex":"x"}}', 'Did you mean "$contains"?'],
    ['{"title":{"$search":"x"}}', 'Did you mean "$contains"?'],
    ['{"title":{"$neq":"x"}}', 'Did you mean "$ne"?'],
    ['{"tags":{"$elemMatch":{}}}', '"$elemMatch" is not an operator. Known: $eq, $ne, $in'],
    ['{"or":[{"a":1}]}', '"or" is no field; did you mean "$or"?'],
  ])('refuses where=%s and leads on', async (where, message) => {
    const { status, body } = await listBy('where', where);
    expect([status, body.code]).toEqual([400, 'invalid_where']);
    expect(body.error).toContain(message);
    if (where.includes('$')) expect(body.error).toContain('"$options":"i" ignores case');
  });

  it.each([
    ['price:desc', 'send sort=-price.'],
    ['price desc', 'send sort=-price.'],
    ['price:asc', 'send sort=price.'],
    ['title,price:DESC', 'send sort=-price.'],
    ['price:-1', 'send sort=-price.'],
    ['{"price":-1}', '"-" before it for descending: sort=-price.'],
  ])('refuses sort=%s and leads on', async (sort, message) => {
    const { status, body } = await listBy('sort', sort);
    expect([status, body.code]).toEqual([400, 'invalid_sort']);
    expect(body.error).toContain(message);
  });

  it('sorts by a field that is called like a direction, and says so', async () => {
    for (const sort of ['price.desc', 'price,desc']) {
      const { status, headers } = await listBy('sort', sort);
      expect([sort, status]).toEqual([sort, 200]);
      expect(headers.get('backlot-hint')).toContain('sort=-price');
    }
    expect((await listBy('sort', 'description')).headers.has('backlot-hint')).toBe(false);
  });

  it('leads from what is no id, and from a PUT of what is not there', async () => {
    for (const collection of ['todos', 'missing']) {
      const count = await bed.call('GET', `/db/${collection}/count`);
      expect([count.status, count.body.hint]).toEqual([
        404,
        `Ids of records are UUIDs. Did you mean /db/${collection}/_count?`,
      ]);
      const other = await bed.call('GET', `/db/${collection}/mine`);
      expect([other.status, other.body.hint]).toEqual([404, 'Ids of records are UUIDs.']);
      for (const [id, hint] of [
        ['first', `To list: GET /db/${collection}?where=`],
        [`${unknownId},${unknownId}`, `POST /db/${collection}/_batch`],
      ])
        expect((await bed.call('GET', `/db/${collection}/${id}`)).body.hint).toContain(hint);
      const put = await bed.call('PUT', `/db/${collection}/${unknownId}`, {
        identity: asUser(ada),
        body: { data: {} },
      });
      expect([put.status, put.body.hint]).toEqual([404, expect.stringContaining('?upsert=1')]);
    }
  });

  it('says which fields of a new record the server sets', async () => {
    const { status, headers, body } = await bed.call('POST', '/db/todos', {
      identity: asUser(ada),
      body: { data: { id: 'mine', createdAt: '2020-01-01', title: 'x' }, acl: 1 },
    });
    expect(status).toBe(201);
    expect(body.id).not.toBe('mine');
    expect(headers.get('backlot-hint')).toMatch(
      /^Ignored field: "acl".* Ignored in "data": "id", "createdAt", which the server sets\./,
    );
    await bed.call('DELETE', `/db/todos/${body.id}`, { identity: asUser(ada) });
  });

  it('says where fields were put into "data" twice, and stores the record as it was sent', async () => {
    const identity = asUser(ada);
    const body = { data: { data: { title: 'x' } } };
    const made = await bed.call('POST', '/db/nested', { identity, body });
    expect([made.status, made.body.data]).toEqual([201, { title: 'x' }]);
    const put = await bed.call('PUT', `/db/nested/${made.body.id}`, { identity, body });
    expect([put.status, put.body.data]).toEqual([200, { title: 'x' }]);
    for (const { headers } of [made, put])
      expect(headers.get('backlot-hint')).toContain('create({"title":"x"})');
    for (const data of [{ data: 'x' }, { data: {}, title: 'x' }, { info: {} }, {}]) {
      const { status, headers } = await bed.call('POST', '/db/nested', {
        identity,
        body: { data },
      });
      expect([status, headers.get('backlot-hint')]).toEqual([201, null]);
    }
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
    const ignored = 'Ignored field: "sharedWith", "acl". Known here: data';
    const made = await bed.call('POST', '/db/todos', { identity: anonymous(), body });
    expect([made.status, made.headers.get('backlot-hint')]).toEqual([201, `${ignored}, groupId.`]);
    const { id: madeId, title, ...rest } = made.body;
    expect(title).toBe('z');
    expect(Object.keys(rest).sort()).toEqual(['createdAt', 'ownerId', 'updatedAt']);
    const path = `/db/todos/${madeId}`;
    const replaced = await bed.call('PUT', path, { body });
    expect([replaced.status, replaced.headers.get('backlot-hint')]).toEqual([200, `${ignored}.`]);
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
