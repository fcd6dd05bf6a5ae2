import { recordRoutes } from '@backlot/contract';
import { asKey, asUser, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

describe('one record', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it('is created with an id that is its time, and comes back as it was sent', async () => {
    const data = { title: 'Café 💥', n: 1.5, tags: ['a', null, { x: [] }], '': {}, nothing: null };
    const sent = { ...data, id: 'x', ownerId: 'x', createdAt: 'x', updatedAt: 'x' };
    const made = await bed.call('POST', '/db/things', {
      identity: asUser(ada),
      body: { data: sent },
    });
    expect(made.status).toBe(201);
    const { id, ownerId, createdAt, updatedAt, ...rest } = made.body;
    expect(rest).toEqual(data);
    expect(ownerId).toBe(ada);
    expect(updatedAt).toBe(createdAt);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect(new Date(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toISOString()).toBe(
      createdAt,
    );
    const read = await bed.call('GET', `/db/things/${id}`);
    expect(read.body).toEqual(made.body);
    expect(read.headers.get('etag')).toBe(made.headers.get('etag'));
    const empty = await bed.create('things', {});
    expect((await bed.call('GET', `/db/things/${empty.id}`)).body).toEqual(empty);
  });

  it('is merged by PATCH, replaced by PUT, and keeps id, owner and time of creation', async () => {
    const identity = asUser(ada);
    const made = await bed.create('things', { a: { x: 1 }, b: [1, 2], c: 3, d: 4 }, identity);
    const path = `/db/things/${made.id}`;
    bed.clock.pass(10);
    const patched = await bed.call('PATCH', path, {
      identity,
      body: {
        data: { a: { y: 2 }, b: null, id: 'x' },
        unset: ['d', 'nothing'],
        inc: { c: -0.5, e: 2 },
      },
    });
    expect(patched.status).toBe(200);
    const { d: _, ...kept } = made as Record<string, unknown>;
    expect(patched.body).toEqual({
      ...kept,
      a: { y: 2 },
      b: null,
      c: 2.5,
      e: 2,
      updatedAt: patched.body.updatedAt,
    });
    expect(Date.parse(patched.body.updatedAt)).toBeGreaterThan(Date.parse(String(made.updatedAt)));
    const replaced = await bed.call('PUT', path, {
      identity,
      body: { data: { z: 1, ownerId: bob } },
    });
    const { id, ownerId, createdAt } = made;
    expect(replaced.body).toEqual({
      id,
      ownerId,
      createdAt,
      updatedAt: replaced.body.updatedAt,
      z: 1,
    });
    expect((await bed.call('GET', path)).body).toEqual(replaced.body);
    expect((await bed.call('DELETE', path, { identity })).body).toEqual({ ok: true });
    for (const method of ['GET', 'PATCH', 'PUT', 'DELETE']) {
      const body = method === 'GET' || method === 'DELETE' ? {} : { body: { data: {} } };
      expect(await bed.call(method, path, { identity, ...body })).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
    }
  });

  it.each([
    'x',
    '123',
    '018f0000-0000-7000-8000-00000000000g',
    '018f0000-0000-7000-8000-0000000000ff',
    '%00',
  ])('is a 404 by the id %s', async (id) => {
    await bed.create('things', {});
    for (const collection of ['things', 'unknown']) {
      expect((await bed.call('GET', `/db/${collection}/${id}`)).status).toBe(404);
      expect((await bed.call('DELETE', `/db/${collection}/${id}`)).status).toBe(404);
      expect(
        (await bed.call('PATCH', `/db/${collection}/${id}`, { body: { data: {} } })).status,
      ).toBe(404);
    }
  });

  it.each([
    [{ data: { $a: 1 } }, 'invalid_data', 'data.$a'],
    [{ unset: ['id'] }, 'invalid_data', '"id"'],
    [{ inc: { updatedAt: 1 } }, 'invalid_data', '"updatedAt"'],
    [{ inc: { 'a.b': 1 } }, 'invalid_data', '"a.b"'],
    [{ unset: ['$a'] }, 'invalid_data', '"$a"'],
    [{ data: { a: 1 }, unset: ['a'] }, 'invalid_data', '"a"'],
    [{ inc: { a: 1 }, unset: ['a'] }, 'invalid_data', '"a"'],
    [{ inc: { text: 1 } }, 'invalid_data', '"text" is not a number'],
    [{ inc: { nothing: 1 } }, 'invalid_data', '"nothing" is not a number'],
    [{ inc: { large: 1.7e308 } }, 'invalid_data', 'too large'],
    [{ inc: { large: '1' } }, 'invalid_body', 'inc.large'],
    [{ unset: 'a' }, 'invalid_body', 'unset'],
    [{ data: [] }, 'invalid_body', 'data'],
    [{}, 'invalid_body', '"data"'],
  ])('refuses the patch %j and changes nothing', async (body, code, named) => {
    const made = await bed.create('things', { text: 'x', nothing: null, large: 1.7e308 });
    const path = `/db/things/${made.id}`;
    const { status, body: failure } = await bed.call('PATCH', path, { body });
    expect([status, failure.code]).toEqual([400, code]);
    expect(failure.error).toContain(named);
    expect((await bed.call('GET', path)).body).toEqual(made);
  });

  it.each([
    ['{"data":{"__proto__":{"x":1}}}', 'data.__proto__'],
    ['{"data":{"a":{"__proto__":1}}}', 'data.a.__proto__'],
    ['{"data":{"n":9007199254740993}}', '9007199254740993'],
    ['{"data":{"n":1e400}}', 'data.n'],
    ['{"data":{"a":"\\u0000"}}', 'data.a'],
    ['{"data":{"a":"\\ud800"}}', 'data.a'],
    [`{"data":{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`, 'data.a'],
  ])('refuses the body %.60s', async (body, named) => {
    const failure = await bed.call('POST', '/db/things', { body });
    expect(failure).toMatchObject({ status: 400, body: { code: 'invalid_data' } });
    expect(failure.body.error).toContain(named);
  });

  it('sums decimals to the nearest double', async () => {
    const made = await bed.create('things', { n: 0.1 });
    const { body } = await bed.call('PATCH', `/db/things/${made.id}`, {
      body: { inc: { n: 0.2 } },
    });
    expect(body.n).toBe(0.3);
  });

  /** Where no connection was free in time nothing was written: the call is repeated. */
  const persist = async (...call: Parameters<TestBed['call']>) => {
    for (;;) {
      const answer = await bed.call(...call);
      if (answer.status !== 503) return answer;
    }
  };

  it('loses none of 500 increments at once', async () => {
    const made = await bed.create('things', { n: 0 });
    const path = `/db/things/${made.id}`;
    const answers = await Promise.all(
      Array.from({ length: 500 }, () => persist('PATCH', path, { body: { inc: { n: 1 } } })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect((await bed.call('GET', path)).body.n).toBe(500);
    const versions = answers.map(({ body }) => body.updatedAt);
    expect(new Set(versions).size).toBe(500);
  });

  it('lets one of 50 writers through for each version, until all have been', async () => {
    const made = await bed.call('POST', '/db/things', { body: { data: { n: 0 } } });
    const path = `/db/things/${made.body.id}`;
    const accepted: string[] = [];
    const write = async () => {
      for (;;) {
        const { headers, body } = await persist('GET', path);
        const etag = String(headers.get('etag'));
        const data = { n: body.n + 1 };
        const change = { headers: { 'if-match': etag }, body: { data } };
        const { status } = await persist('PATCH', path, change);
        if (status === 200) return accepted.push(etag);
        expect(status).toBe(412);
      }
    };
    await Promise.all(Array.from({ length: 50 }, write));
    expect(new Set(accepted).size).toBe(50);
    expect((await bed.call('GET', path)).body.n).toBe(50);
  });

  it('lets exactly one of many changes through that name the same version', async () => {
    const made = await bed.call('POST', '/db/things', { body: { data: { n: 0 } } });
    const path = `/db/things/${made.body.id}`;
    const headers = { 'if-match': String(made.headers.get('etag')) };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        bed.call(n % 2 ? 'PATCH' : 'PUT', path, { headers, body: { data: { n } } }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 412)).toHaveLength(19);
    const winner = answers.find(({ status }) => status === 200);
    expect((await bed.call('GET', path)).body).toEqual(winner?.body);
    expect((await bed.call('DELETE', path, { headers })).status).toBe(412);
    const current = { 'if-match': `"other", ${winner?.headers.get('etag')}` };
    expect((await bed.call('DELETE', path, { headers: current })).status).toBe(200);
    expect((await bed.call('DELETE', path, { headers: current })).status).toBe(404);
  });

  it.each([
    ['*', 200],
    ['"nonsense"', 412],
    ['W/"abc"', 412],
    ['', 412],
    ['"zzzzzzzzzz"', 412],
  ])('answers If-Match %s with %i', async (tag, status) => {
    const made = await bed.create('things', {});
    const headers = { 'if-match': tag };
    expect(
      (await bed.call('PATCH', `/db/things/${made.id}`, { headers, body: { data: {} } })).status,
    ).toBe(status);
  });

  it('holds a merged record to the limits of a new one', async () => {
    const made = await bed.create('things', { a: 'x'.repeat(600_000) });
    const path = `/db/things/${made.id}`;
    const large = { data: { b: 'x'.repeat(600_000) } };
    expect(await bed.call('PATCH', path, { body: large })).toMatchObject({
      status: 400,
      body: { code: 'invalid_data', error: expect.stringContaining('1048576') },
    });
    expect((await bed.call('PATCH', path, { body: { ...large, unset: ['a'] } })).status).toBe(200);
    const keys = (from: number) =>
      Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`key${from + i}`, i]));
    const wide = await bed.create('things', { nested: keys(0) });
    expect(
      await bed.call('PATCH', `/db/things/${wide.id}`, { body: { data: keys(600) } }),
    ).toMatchObject({
      status: 400,
      body: { code: 'invalid_data', error: expect.stringContaining('1024 keys') },
    });
    expect(
      (
        await bed.call('PATCH', `/db/things/${wide.id}`, {
          body: { data: keys(0), unset: ['nested'] },
        })
      ).status,
    ).toBe(200);
  });

  it('comes from no other project’s key', async () => {
    expect((await bed.call('GET', '/db/things', { identity: asKey() })).status).toBe(200);
    expect((await bed.call('GET', '/db/things', { identity: null })).status).toBe(401);
  });

  for (const definition of [
    recordRoutes.getRecord,
    recordRoutes.createRecord,
    recordRoutes.updateRecord,
    recordRoutes.replaceRecord,
    recordRoutes.deleteRecord,
    recordRoutes.listRecords,
    recordRoutes.countRecords,
  ]) {
    refusesStrangers(
      definition,
      () => bed.http,
      () => ({
        path: definition.path
          .replace(':collection', 'things')
          .replace(':id', '018f0000-0000-7000-8000-0000000000ff'),
        body: { data: {} },
      }),
    );
  }
});
