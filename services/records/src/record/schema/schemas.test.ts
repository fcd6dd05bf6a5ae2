import { anonymous, asKey, asOwner, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { collectionsPath } from '../../testing/calls.ts';
import { ada, bob, createTestBed, type TestBed } from '../../testing/test-bed.ts';

const posts = {
  type: 'object',
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 20 },
    stock: { type: 'integer', minimum: 0, maximum: 10 },
    likes: { type: 'integer', minimum: 0 },
    state: { enum: ['open', 'done'], default: 'open' },
    at: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
  required: ['title'],
  additionalProperties: false,
};

describe('the schema of a collection', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const set = async (name: string, body: object) => {
    const answer = await bed.call('PUT', `${collectionsPath}/${name}`, {
      identity: asOwner(),
      body,
    });
    expect([answer.status, answer.body.error]).toEqual([200, undefined]);
    return answer.body;
  };
  const call = (method: string, at: string, body?: object, identity = asUser(ada)) =>
    bed.call(method, `/db/${at}`, { identity, ...(body && { body }) });
  const mismatch = (...problems: [path: string, rule: string][]) => ({
    status: 400,
    body: {
      code: 'schema_mismatch',
      problems: problems.map(([path, rule]) => expect.objectContaining({ path, rule })),
    },
  });

  it('is set, shown and taken away by the owner, and refused by name where it does not hold', async () => {
    const shown = await set('shown', { schema: posts });
    expect(shown.schema).toEqual(posts);
    expect((await set('shown', { access: 'members' })).schema).toEqual(posts);
    expect(
      await bed.call('PUT', `${collectionsPath}/shown`, {
        identity: asOwner(),
        body: { schema: { oneOf: [] } },
      }),
    ).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    const large = { properties: { f: { enum: ['x'.repeat(16_400)] } } };
    expect(
      await bed.call('PUT', `${collectionsPath}/shown`, {
        identity: asOwner(),
        body: { schema: large },
      }),
    ).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    const shape = await bed.call('GET', `${collectionsPath}/shown/shape`, { identity: asOwner() });
    expect(shape.body.schema).toEqual(posts);
    expect((await set('shown', { schema: null })).schema).toBeNull();
    expect((await call('POST', 'shown', { data: { anything: 1 } })).status).toBe(201);
  });

  it('is asked of every way to write, and the error names all that does not fit', async () => {
    await set('posts', { schema: posts });
    const made = await bed.create('posts', { title: 'a', stock: 5 }, asUser(ada));
    expect(made).toMatchObject({ title: 'a', stock: 5, state: 'open' });
    const at = `posts/${made.id}`;
    const wrong = { title: '', stock: 1.5, extra: 1 };
    const all = mismatch(
      ['title', 'minLength'],
      ['stock', 'type'],
      ['extra', 'additionalProperties'],
    );
    expect(await call('POST', 'posts', { data: wrong })).toMatchObject(all);
    expect(await call('PUT', at, { data: wrong })).toMatchObject(all);
    expect(await call('PATCH', at, { data: wrong })).toMatchObject(all);
    expect(await call('PUT', `posts/${uuidv7()}?upsert=1`, { data: wrong })).toMatchObject(all);
    expect(await call('PUT', `${at}?upsert=1`, { data: wrong })).toMatchObject(all);
    expect(await call('PUT', at, { data: {} })).toMatchObject(mismatch(['title', 'required']));
    expect(await call('PATCH', at, { unset: ['title'] })).toMatchObject(
      mismatch(['title', 'required']),
    );
    expect(await call('PATCH', `${at}?merge=deep`, { data: { title: null } })).toMatchObject(
      mismatch(['title', 'required']),
    );
    expect(await call('PATCH', `${at}?merge=deep`, { data: { at: {} } })).toMatchObject(
      mismatch(['at.city', 'required']),
    );
    expect(await call('PATCH', at, { inc: { stock: 6 } })).toMatchObject(
      mismatch(['stock', 'maximum']),
    );
    expect(await call('PATCH', at, { inc: { stock: -6 } })).toMatchObject(
      mismatch(['stock', 'minimum']),
    );
    expect(await call('PATCH', at, { inc: { extra: 1 } })).toMatchObject(
      mismatch(['extra', 'additionalProperties']),
    );
    expect(await call('PATCH', at, { inc: { likes: 0.5 } })).toMatchObject(
      mismatch(['likes', 'type']),
    );
    const batch = {
      create: [{ data: { title: 'b' } }, { data: {} }],
      update: [{ id: made.id, data: { stock: 11 } }],
    };
    expect(await call('POST', 'posts/_batch', batch)).toMatchObject({
      status: 400,
      body: {
        code: 'schema_mismatch',
        problems: [
          { operation: 'create[1]', path: 'title', rule: 'required' },
          { operation: 'update[0]', path: 'stock', rule: 'maximum' },
        ],
      },
    });
    const sums = { update: [{ id: made.id, inc: { stock: 100, likes: 1 } }] };
    expect(await call('POST', 'posts/_batch', sums)).toMatchObject({
      status: 400,
      body: { problems: [{ operation: 'update[0]', path: 'stock', rule: 'maximum' }] },
    });
    const { body } = await call('GET', at);
    expect(body).toMatchObject({ title: 'a', stock: 5, updatedAt: made.updatedAt });
    expect((await call('GET', 'posts/_count')).body.count).toBe(1);
  });

  it('takes what fits, by every way to write', async () => {
    await set('fits', { schema: posts });
    const { id } = await bed.create('fits', { title: 'a' }, asUser(ada));
    const at = `fits/${id}`;
    const city = { at: { city: 'Rome' } };
    expect((await call('PATCH', `${at}?merge=deep`, { data: city })).body).toMatchObject(city);
    expect((await call('PATCH', at, { inc: { stock: 3, likes: 1 } })).body.stock).toBe(3);
    expect((await call('PATCH', at, { inc: { stock: -3 }, unset: ['at'] })).body.stock).toBe(0);
    const batch = {
      create: [{ data: { title: 'b' } }],
      update: [{ id, inc: { stock: 10 }, data: { title: 'c' } }],
    };
    expect((await call('POST', 'fits/_batch', batch)).status).toBe(200);
    expect((await call('GET', at)).body).toMatchObject({ title: 'c', stock: 10, state: 'open' });
    expect((await call('PUT', at, { data: { title: 'd' } })).body).toMatchObject({
      title: 'd',
      state: 'open',
    });
    const upserted = await call('PUT', `fits/${uuidv7()}?upsert=1`, { data: { title: 'e' } });
    expect([upserted.status, upserted.body.state]).toEqual([201, 'open']);
  });

  it('has patterns, of which a whole batch of usual texts is within bounds', async () => {
    const slug = { pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$', maxLength: 60 };
    await set('slugs', { schema: { properties: { slug } } });
    const create = Array.from({ length: 500 }, (_, n) => ({
      data: { slug: `a-good-long-slug-${n}` },
    }));
    expect((await call('POST', 'slugs/_batch', { create })).status).toBe(200);
    create[400] = { data: { slug: 'Not a slug' } };
    expect(await call('POST', 'slugs/_batch', { create })).toMatchObject({
      body: { problems: [{ operation: 'create[400]', path: 'slug', rule: 'pattern' }] },
    });
  });

  it('leaves records from before readable, and lets them be mended one field at a time', async () => {
    const old = await bed.create('old', { title: 7, stock: -3 }, asUser(ada));
    await set('old', { schema: posts });
    const at = `old/${old.id}`;
    expect((await call('GET', at)).body).toMatchObject({ title: 7, stock: -3 });
    expect((await call('PATCH', at, { data: { likes: 1 } })).status).toBe(200);
    expect(await call('PATCH', at, { inc: { stock: -1 } })).toMatchObject(
      mismatch(['stock', 'minimum']),
    );
    expect((await call('PATCH', at, { data: { title: 'a', stock: 0 } })).status).toBe(200);
  });

  it('tells nothing to those who may not write, and what they may not see to nobody', async () => {
    await set('closed', { schema: posts, access: 'locked' });
    await set('own', { schema: posts, access: 'private' });
    const own = await bed.create('own', { title: 'a', stock: 5 }, asUser(ada));
    for (const [method, at, body] of [
      ['POST', 'closed', { data: {} }],
      ['PUT', `closed/${uuidv7()}?upsert=1`, { data: {} }],
      ['PATCH', `closed/${own.id}`, { data: { extra: 1 } }],
      ['POST', 'closed/_batch', { update: [{ id: own.id, data: { extra: 1 } }] }],
      ['PATCH', `own/${own.id}`, { inc: { stock: 100 } }],
      ['PATCH', `own/${own.id}?merge=deep`, { data: { at: {} } }],
    ] as const) {
      const { status, body: answer } = await call(method, at, body, asUser(bob));
      expect([method, at, [403, 404].includes(status)]).toEqual([method, at, true]);
      expect(answer.problems).toBeUndefined();
    }
    expect((await call('POST', 'closed', { data: {} }, anonymous())).status).toBe(401);
  });

  it('keeps sums within its bounds, whoever else adds at the same time', async () => {
    await set('seats', { schema: { properties: { left: { type: 'integer', minimum: 0 } } } });
    const { id } = await bed.create('seats', { left: 5 }, asUser(ada));
    const take = () => call('PATCH', `seats/${id}`, { inc: { left: -1 } });
    const taken = await Promise.all(Array.from({ length: 20 }, take));
    expect(taken.filter(({ status }) => status === 200)).toHaveLength(5);
    const refused = taken.filter(({ status }) => status !== 200);
    for (const answer of refused) expect(answer).toMatchObject(mismatch(['left', 'minimum']));
    expect((await call('GET', `seats/${id}`)).body.left).toBe(0);
  });

  it('holds from its answer on, for writes that are under way too', async () => {
    await bed.create('racing', { n: 'a' }, asUser(ada));
    let isSet = false;
    const late: unknown[] = [];
    const write = async (n: number) => {
      const wasSet = isSet;
      const body = n % 2 ? { data: { n: 'x' } } : { data: { n } };
      const answer = await call('POST', 'racing', body);
      if (wasSet) late.push([answer.status, typeof body.data.n]);
    };
    const writes = Array.from({ length: 40 }, (_, n) => async () => {
      if (n === 15) {
        await set('racing', { schema: { properties: { n: { type: 'number' } } } });
        isSet = true;
      }
      await write(n);
    });
    let next = 0;
    const work = async () => {
      for (let one = writes[next++]; one; one = writes[next++]) await one();
    };
    await Promise.all([work(), work(), work(), work()]);
    expect(late.length).toBeGreaterThan(0);
    for (const [status, type] of late as [number, string][])
      expect([type, status]).toEqual([type, type === 'number' ? 201 : 400]);
  });

  it('has ids be those of records that the caller may see, asked once a call', async () => {
    await set('people', { access: 'private' });
    const hers = await bed.create('people', { name: 'a' }, asUser(ada));
    const his = await bed.create('people', { name: 'b' }, asUser(bob));
    const schema = {
      properties: {
        author: { 'x-ref': 'people' },
        readers: { type: 'array', items: { 'x-ref': 'people' } },
      },
    };
    await set('refs', { schema });
    const ok = await call('POST', 'refs', { data: { author: hers.id, readers: [hers.id] } });
    expect(ok.status).toBe(201);
    const data = { author: his.id, readers: [hers.id, uuidv7(), 'none'] };
    const refused = mismatch(['readers[2]', 'x-ref'], ['author', 'x-ref'], ['readers[1]', 'x-ref']);
    expect(await call('POST', 'refs', { data })).toMatchObject(refused);
    expect(await call('PATCH', `refs/${ok.body.id}`, { data })).toMatchObject(refused);
    expect((await call('POST', 'refs', { data: { author: his.id } }, asKey())).status).toBe(201);
    const other = asKey({ project: { ...testProject, id: 'other', number: 77 } });
    const foreign = await bed.create('people', {}, other);
    expect(await call('POST', 'refs', { data: { author: foreign.id } }, asKey())).toMatchObject(
      mismatch(['author', 'x-ref']),
    );
    const batch = { create: [{ data: { author: hers.id } }, { data: { author: his.id } }] };
    expect(await call('POST', 'refs/_batch', batch)).toMatchObject({
      body: { problems: [{ operation: 'create[1]', path: 'author' }] },
    });
    const many = { data: { readers: Array.from({ length: 1500 }, () => uuidv7()) } };
    expect(await call('POST', 'refs', many)).toMatchObject({ status: 400 });
  });

  it('has the server write who made a record and when, which nobody else can', async () => {
    const schema = {
      properties: {
        text: { type: 'string' },
        by: { type: 'string', 'x-set': 'owner' },
        name: { type: 'string', 'x-set': 'caller.name' },
        at: { type: 'string', format: 'date-time', 'x-set': 'now' },
      },
      required: ['name'],
    };
    await set('signed', { schema });
    bed.names.set(ada, 'Ada');
    const made = await call('POST', 'signed', { data: { text: 'a' } });
    expect(made).toMatchObject({ status: 201, body: { by: ada, name: 'Ada' } });
    expect(Date.parse(made.body.at)).toBeLessThanOrEqual(Date.now());
    const at = `signed/${made.body.id}`;
    expect(await call('POST', 'signed', { data: { name: 'Bob' } })).toMatchObject({
      status: 403,
      body: { error: expect.stringContaining('"name"') },
    });
    expect((await call('PATCH', at, { data: { name: 'Bob' } })).status).toBe(403);
    expect((await call('PATCH', at, { data: { name: 'Ada', text: 'b' } })).status).toBe(200);
    expect((await call('PATCH', at, { unset: ['by'] })).status).toBe(403);
    expect((await call('PUT', at, { data: { text: 'c' } })).body).toMatchObject({
      text: 'c',
      name: 'Ada',
      by: ada,
    });
    // Who has no name has none to be written.
    expect(await call('POST', 'signed', { data: {} }, asUser(bob))).toMatchObject(
      mismatch(['name', 'required']),
    );
    const imported = { name: 'Old', at: '2020-01-01T00:00:00Z' };
    expect((await call('POST', 'signed', { data: imported }, asKey())).body).toMatchObject(
      imported,
    );
    const batch = await call('POST', 'signed/_batch', { create: [{ data: { text: 'd' } }] });
    const [written] = batch.body.create;
    expect((await call('GET', `signed/${written.id}`)).body.name).toBe('Ada');
  });

  it('asks of a PUT what it has to hold, and not what the caller can not change', async () => {
    const schema = { properties: { a: {}, b: {} }, required: ['a', 'b'] };
    const fields = { b: { change: ['role:staff'] }, a: { change: ['owner'] } };
    const access = { read: ['anyone'], create: ['anyone'], change: ['anyone'], fields };
    const mine = await bed.create('kept', { a: 1 }, asUser(ada));
    await set('kept', { schema, access });
    const at = `kept/${mine.id}`;
    expect(await call('PUT', at, { data: {} })).toMatchObject(mismatch(['a', 'required']));
    expect((await call('PUT', at, { data: { a: 2 } })).body).toMatchObject({ a: 2 });
    expect((await call('PUT', at, { data: {} }, asUser(bob))).body).toMatchObject({ a: 2 });
  });

  it('goes on when the records are deleted and the collection stays', async () => {
    await set('emptied', { schema: posts });
    await bed.create('emptied', { title: 'a' }, asUser(ada));
    await bed.call('DELETE', `${collectionsPath}/emptied?empty=1`, { identity: asOwner() });
    expect(await call('POST', 'emptied', { data: {} })).toMatchObject(
      mismatch(['title', 'required']),
    );
  });
});
