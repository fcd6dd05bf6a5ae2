import type { Identity } from '@backlot/identity';
import { anonymous, asOwner, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

describe('a rule for "count"', () => {
  let bed: TestBed;
  let post: { id: string };
  beforeAll(async () => {
    bed = await createTestBed();
    const access = {
      read: ['anyone'],
      create: ['users'],
      change: ['owner'],
      count: ['anyone'],
      fields: { price: { change: ['owner'] }, score: { read: ['owner'] } },
    };
    const path = `/platform/projects/${testProject.id}/collections/posts`;
    await bed.call('PUT', path, { identity: asOwner(), body: { access } });
    const data = { title: 'Hello', likes: 0, price: 5, score: 1 };
    post = await bed.create('posts', data, asUser(ada));
  });
  afterAll(() => bed.close());

  const patch = (body: object, identity: Identity = anonymous()) =>
    bed.call('PATCH', `/db/posts/${post.id}`, { identity, body });

  it('lets those add to numbers who may change nothing else', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        patch({ inc: { likes: 1 } }, i % 2 === 0 ? anonymous() : asUser(bob)),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { body } = await bed.call('GET', `/db/posts/${post.id}`);
    expect(body).toMatchObject({ title: 'Hello', likes: 30, price: 5 });
    expect(body).not.toHaveProperty('score');
    const batch = { update: [{ id: post.id, inc: { likes: -30 } }] };
    expect((await bed.call('POST', '/db/posts/_batch', { body: batch })).status).toBe(200);
  });

  it('opens nothing but numbers that are there, and no field that a rule protects', async () => {
    const refused = [
      { data: { title: 'Mine' } },
      { data: { likes: 1_000_000 } },
      { inc: { likes: 1 }, data: { title: 'Mine' } },
      { inc: { likes: 1 }, unset: ['title'] },
      { unset: ['likes'] },
      { inc: { price: -5 } },
      { inc: { likes: 1, price: -5 } },
      { inc: { score: 1 } },
      { inc: { junk: 1 } },
      { inc: {} },
    ];
    const before = (await bed.call('GET', `/db/posts/${post.id}`)).body;
    for (const body of refused) {
      const batch = { update: [{ id: post.id, ...body }] };
      const send = (identity: Identity) =>
        bed.call('POST', '/db/posts/_batch', { identity, body: batch });
      for (const answer of [await patch(body), await send(anonymous())])
        expect([body, answer.status]).toEqual([body, 401]);
      for (const answer of [await patch(body, asUser(bob)), await send(asUser(bob))])
        expect([body, answer.status]).toEqual([body, 403]);
    }
    for (const body of [{ data: { likes: 5 } }, { data: {} }]) {
      const replace = await bed.call('PUT', `/db/posts/${post.id}`, { body: { data: body } });
      expect(replace.status).toBe(401);
    }
    const text = await patch({ inc: { title: 1 } }, asUser(bob));
    expect(text).toMatchObject({ status: 400, body: { code: 'invalid_data' } });
    expect((await bed.call('GET', `/db/posts/${post.id}`)).body).toEqual(before);
  });

  it('is named by the refusal of another change', async () => {
    const { body } = await patch({ data: { title: 'Mine' } }, asUser(bob));
    expect(body.hint).toContain('"count" (anyone)');
    expect((await patch({ inc: { junk: 1 } }, asUser(bob))).body.error).toContain('"junk"');
  });

  it('takes nothing from those who may change', async () => {
    const { status, body } = await patch({ inc: { fresh: 2, price: 1 } }, asUser(ada));
    expect([status, body.fresh, body.price]).toEqual([200, 2, 6]);
  });
});
