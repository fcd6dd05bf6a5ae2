import { asUser } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from './test-bed.ts';

describe('records over HTTP', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it('creates, reads, lists, counts, patches, replaces and deletes', async () => {
    const identity = asUser(ada);
    const made = await bed.call('POST', '/db/todos', {
      identity,
      body: { data: { title: 'Milk', n: 2 } },
    });
    expect(made).toMatchObject({ status: 201, body: { title: 'Milk', n: 2, ownerId: ada } });
    const path = `/db/todos/${made.body.id}`;
    expect(await bed.call('GET', path)).toMatchObject({ status: 200, body: made.body });
    expect((await bed.call('GET', '/db/todos')).body).toEqual({
      items: [made.body],
      hasMore: false,
      nextCursor: null,
    });
    expect((await bed.call('GET', '/db/todos/_count')).body).toEqual({ count: 1 });
    const where = encodeURIComponent(JSON.stringify({ n: { $gte: 2 } }));
    expect((await bed.call('GET', `/db/todos?where=${where}&sort=-n`)).body.items).toEqual([
      made.body,
    ]);
    expect((await bed.call('GET', `/db/todos/_count?where=${where}`)).body).toEqual({ count: 1 });
    const patched = await bed.call('PATCH', path, {
      identity,
      body: { data: { done: true }, inc: { n: 5 }, unset: ['title'] },
    });
    expect(patched).toMatchObject({ status: 200, body: { n: 7, done: true } });
    expect(patched.body).not.toHaveProperty('title');
    expect(
      await bed.call('PATCH', path, { identity: asUser(bob), body: { data: {} } }),
    ).toMatchObject({ status: 403 });
    const replaced = await bed.call('PUT', path, { identity, body: { data: { a: 1 } } });
    expect(replaced).toMatchObject({ status: 200, body: { a: 1, id: made.body.id } });
    expect(await bed.call('DELETE', path, { identity })).toMatchObject({
      status: 200,
      body: { ok: true },
    });
    expect(await bed.call('GET', path)).toMatchObject({ status: 404 });
  });
});
