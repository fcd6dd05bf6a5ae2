import type { AccessRules } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asOwner, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';

import { ada, bob, createTestBed, type TestBed } from '../../testing/test-bed.ts';

const red = '018f0000-0000-7000-8000-000000000901';
const inRed = (user: string, role: string) => asUser(user, { groups: [{ id: red, role }] });

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());

const setAccess = (name: string, access: unknown) =>
  bed.call('PUT', `/platform/projects/${testProject.id}/collections/${name}`, {
    identity: asOwner(),
    body: { access },
  });

let collections = 0;
const newCollection = async (access: Partial<AccessRules>): Promise<string> => {
  collections += 1;
  const name = `c${collections}`;
  const rules = { read: ['anyone'], create: ['anyone'], change: [], ...access };
  const { status, body } = await setAccess(name, rules);
  expect([status, body.error]).toEqual([200, undefined]);
  return name;
};

const published = { published: true };
const toAnyone = (where: Record<string, unknown>) => ({ to: ['anyone'], where });

describe('a rule on values', () => {
  const statuses = async (
    name: string,
    identity: Identity,
    id: string,
    body: { data?: object; inc?: object } = { data: {} },
  ) => {
    const path = `/db/${name}/${id}`;
    return [
      (await bed.call('GET', path, { identity })).status,
      (await bed.call('PATCH', path, { identity, body })).status,
    ];
  };

  it('shows the records that pass, in every kind of read', async () => {
    const read = ['owner', toAnyone(published)];
    const name = await newCollection({ read });
    const shown = await bed.create(name, { ...published, n: 1 }, asUser(ada));
    const draft = await bed.create(name, { published: false, n: 2 }, asUser(ada));
    const get = (path: string, identity: Identity) => bed.call('GET', path, { identity });
    const seen = async (identity: Identity) => {
      const list = (await get(`/db/${name}?sort=n&total=1`, identity)).body;
      const { count } = (await get(`/db/${name}/_count`, identity)).body;
      const { groups } = (await get(`/db/${name}/_aggregate?sum=n`, identity)).body;
      const ids = list.items.map(({ id }: { id: string }) => id);
      return { ids, total: list.total, count, sum: groups[0]?.sum.n };
    };
    const all = { ids: [shown.id, draft.id], total: 2, count: 2, sum: 3 };
    const some = { ids: [shown.id], total: 1, count: 1, sum: 1 };
    expect(await seen(asUser(ada))).toEqual(all);
    expect(await seen(asUser(bob))).toEqual(some);
    expect(await seen(anonymous())).toEqual(some);
    expect(await seen(asKey())).toEqual(all);
    expect((await get(`/db/${name}/${draft.id}`, asUser(bob))).status).toBe(404);
    expect((await get(`/db/${name}/${draft.id}`, asUser(ada))).status).toBe(200);
    const others = await newCollection({});
    await bed.create(others, { of: [shown.id, draft.id] });
    const included = await get(`/db/${others}?include=of:${name}`, anonymous());
    expect(included.body.items[0].of).toEqual([expect.objectContaining({ n: 1 }), draft.id]);
  });

  it('asks a hidden field, which it does not show', async () => {
    const name = await newCollection({
      read: [toAnyone({ stage: { $gte: 2 } })],
      fields: { stage: { read: ['role:staff'] } },
    });
    const shown = await bed.create(name, { stage: 2, n: 1 });
    const hidden = await bed.create(name, { stage: 1, n: 2 });
    for (const query of ['', '?sort=n', '?where={"n":{"$gt":0}}', '?sort=-n&limit=1']) {
      const { body } = await bed.call('GET', `/db/${name}${query}`);
      expect(body.items).toEqual([expect.objectContaining({ id: shown.id, n: 1 })]);
      expect(body.items[0]).not.toHaveProperty('stage');
    }
    expect((await bed.call('GET', `/db/${name}/_count`)).body.count).toBe(1);
    expect((await bed.call('GET', `/db/${name}/${shown.id}`)).body).not.toHaveProperty('stage');
    expect((await bed.call('GET', `/db/${name}/${hidden.id}`)).status).toBe(404);
    expect((await bed.call('GET', `/db/${name}?where={"stage":2}`)).status).toBe(401);
  });

  it('lets change what passes before and after, whatever the change is', async () => {
    const draft = { to: ['owner' as const], where: { status: { $in: ['draft', 'sent'] } } };
    const name = await newCollection({ create: ['users'], change: [draft, 'role:staff'] });
    const identity = asUser(ada);
    const made = await bed.create(name, { status: 'draft', n: 1 }, identity);
    const path = `/db/${name}/${made.id}`;
    const call = (method: string, body: object, url = path, who = identity) =>
      bed.call(method, url, { identity: who, body });
    const grab = { data: { status: 'approved' } };
    for (const [method, body, url] of [
      ['PATCH', grab],
      ['PATCH', grab, `${path}?merge=deep`],
      ['PATCH', { unset: ['status'] }],
      ['PATCH', { data: { n: 2, status: ['approved'] } }],
      ['PUT', { data: { n: 1 } }],
      ['PUT', grab, `${path}?upsert=1`],
      ['POST', { update: [{ id: made.id, ...grab }] }, `/db/${name}/_batch`],
    ] as const) {
      const refused = await call(method, body, url);
      expect([method, refused.status]).toEqual([method, 403]);
      expect(refused.body.error).toContain('the rule has to admit you to what it becomes');
      expect(refused.body.hint).toContain('owner where "status" allows it, role:staff');
    }
    expect((await bed.call('GET', path)).body).toMatchObject({ status: 'draft', n: 1 });
    expect((await call('PATCH', { data: { n: 2 }, inc: { m: 1 } })).status).toBe(200);
    expect((await call('PATCH', { data: { status: 'sent' } })).status).toBe(200);
    expect((await call('PATCH', grab, path, asUser(bob, { role: 'staff' }))).status).toBe(200);
    const late = await call('PATCH', { data: { status: 'draft' } });
    expect([late.status, late.body.error]).toEqual([403, 'You may not change this record.']);
    expect((await bed.call('DELETE', path, { identity })).status).toBe(403);
  });

  it('admits nobody by one element of a list here and by another there', async () => {
    const name = await newCollection({
      read: ['role:staff', toAnyone({ status: 'approved' })],
      create: [{ to: ['users'], where: { status: 'draft' } }],
      change: [{ to: ['owner'], where: { status: 'draft' } }],
    });
    const identity = asUser(ada, { role: 'staff' });
    const made = await bed.create(name, { status: 'draft' }, identity);
    const path = `/db/${name}/${made.id}`;
    const both = { data: { status: ['draft', 'approved'] } };
    for (const [method, body, url] of [
      ['POST', both, `/db/${name}`],
      ['POST', { create: [both] }, `/db/${name}/_batch`],
      ['PUT', both, `/db/${name}/${uuidv7()}?upsert=1`],
      ['PATCH', both, path],
      ['PATCH', both, `${path}?merge=deep`],
      ['PUT', both, path],
      ['PUT', both, `${path}?upsert=1`],
      ['POST', { update: [{ id: made.id, ...both }] }, `/db/${name}/_batch`],
    ] as const) {
      const { status } = await bed.call(method, url, { identity, body });
      expect([method, url, status]).toEqual([method, url, 403]);
    }
    await bed.create(name, both.data, asKey());
    expect((await bed.call('GET', `/db/${name}?total=1`)).body).toMatchObject({
      items: [],
      total: 0,
    });
    expect((await bed.call('GET', `/db/${name}/_count`)).body.count).toBe(0);
    const tagged = await newCollection({ read: [toAnyone({ tags: { $all: ['public'] } })] });
    await bed.create(tagged, { tags: ['public', 'x'] });
    await bed.create(tagged, { tags: ['x'] });
    expect((await bed.call('GET', `/db/${tagged}/_count`)).body.count).toBe(1);
  });

  it('lets a change hide the record from whoever makes it', async () => {
    const name = await newCollection({
      read: [toAnyone(published)],
      create: ['users'],
      change: ['owner'],
    });
    const made = await bed.create(name, published, asUser(ada));
    expect(await statuses(name, asUser(ada), made.id, { data: { published: 0 } })).toEqual([
      200, 200,
    ]);
    expect(await statuses(name, asUser(ada), made.id)).toEqual([404, 404]);
  });

  it('counts only where it passes, before and after', async () => {
    const name = await newCollection({ count: [toAnyone({ votes: { $lte: 2 } })] });
    const made = await bed.create(name, { votes: 1 });
    const vote = async (by: number) =>
      (await statuses(name, asUser(ada), made.id, { inc: { votes: by } }))[1];
    expect(await vote(5)).toBe(403);
    expect(await vote(1)).toBe(200);
    expect(await vote(1)).toBe(403);
    const word = { inc: { title: 1 } };
    expect((await statuses(name, asUser(ada), made.id, word))[1]).toBe(403);
  });

  it('two changes at once do not pass where one after the other would not', async () => {
    const name = await newCollection({ count: [toAnyone({ left: { $gte: 0 } })] });
    const made = await bed.create(name, { left: 3 });
    const body = { inc: { left: -1 } };
    const path = `/db/${name}/${made.id}`;
    const taken = await Promise.all(
      Array.from({ length: 12 }, () => bed.call('PATCH', path, { identity: asUser(ada), body })),
    );
    expect(taken.filter(({ status }) => status === 200)).toHaveLength(3);
    expect((await bed.call('GET', path)).body.left).toBe(0);
  });

  it('is asked of a new record as it comes, in batches and under an id of its own', async () => {
    const name = await newCollection({
      create: [{ to: ['users'], where: { status: 'draft' } }],
      fields: { score: { create: [toAnyone({ score: { $lte: 10 } })], change: [] } },
    });
    const post = (data: object, identity: Identity = asUser(ada)) =>
      bed.call('POST', `/db/${name}`, { identity, body: { data } });
    expect((await post({ status: 'draft', score: 10 })).status).toBe(201);
    const refused = await post({ status: 'approved' });
    expect([refused.status, refused.body.hint]).toEqual([
      403,
      expect.stringContaining('users where "status" allows it'),
    ]);
    expect((await post({ status: 'draft', score: 11 })).body.error).toContain('"score"');
    expect((await post({ status: 'draft' }, anonymous())).status).toBe(401);
    const batch = (...all: object[]) =>
      bed.call('POST', `/db/${name}/_batch`, {
        identity: asUser(ada),
        body: { create: all.map((data) => ({ data })) },
      });
    expect((await batch({ status: 'draft' }, { status: 'x' })).body.error).toMatch(
      /^create\[1\]: /,
    );
    expect((await batch({ status: 'draft' })).status).toBe(200);
    const put = (data: object) =>
      bed.call('PUT', `/db/${name}/${uuidv7()}?upsert=1`, {
        identity: asUser(ada),
        body: { data },
      });
    expect((await put({ status: 'draft' })).status).toBe(201);
    expect((await put({ status: 'x' })).status).toBe(403);
  });

  it('is asked once the schema has added what is missing', async () => {
    const name = await newCollection({
      create: [{ to: ['users'], where: { status: 'draft' } }],
      fields: { status: { create: [{ to: ['anyone'], where: { status: 'never' } }] } },
    });
    const schema = {
      type: 'object',
      properties: { status: { enum: ['draft', 'done'], default: 'draft' } },
    };
    const path = `/platform/projects/${testProject.id}/collections/${name}`;
    const set = await bed.call('PUT', path, { identity: asOwner(), body: { schema } });
    expect([set.status, set.body.error]).toEqual([200, undefined]);
    const send = async (data: object) => {
      const identity = asUser(ada);
      const one = { identity, body: { data } };
      const many = { identity, body: { create: [{ data }] } };
      return [
        (await bed.call('POST', `/db/${name}`, one)).status,
        (await bed.call('POST', `/db/${name}/_batch`, many)).status,
        (await bed.call('PUT', `/db/${name}/${uuidv7()}?upsert=1`, one)).status,
      ];
    };
    expect(await send({ title: 'x' })).toEqual([201, 200, 201]);
    expect(await send({ status: 'done' })).toEqual([403, 403, 403]);
    // The default is no gift of the caller's; what they send is.
    expect(await send({ status: 'draft' })).toEqual([403, 403, 403]);
  });

  it('knows who calls, and admits no stranger by what is missing', async () => {
    const mine = { to: ['anyone'], where: { members: '$caller.id' } };
    const ofRole = { to: ['users'], where: { seenBy: { $in: ['$caller.role'] } } };
    const notMine = { to: ['anyone'], where: { ownerId: { $ne: '$caller.id' } } };
    const name = await newCollection({ read: [mine, ofRole], change: [notMine] });
    const made = await bed.create(name, { members: [bob], seenBy: 'staff' }, asUser(ada));
    await bed.create(name, { n: 1 });
    const count = async (identity: Identity) =>
      (await bed.call('GET', `/db/${name}/_count`, { identity })).body.count;
    const staff = asUser(ada, { role: 'staff' });
    expect([await count(asUser(ada)), await count(asUser(bob)), await count(staff)]).toEqual([
      0, 1, 1,
    ]);
    expect((await bed.call('GET', `/db/${name}/_count`)).status).toBe(401);
    expect(await statuses(name, anonymous(), made.id)).toEqual([401, 401]);
    expect(await statuses(name, asUser(bob), made.id)).toEqual([200, 200]);
    expect(await statuses(name, staff, made.id)).toEqual([200, 403]);
  });

  it('keeps a profile under its user’s id for that user', async () => {
    const own = { to: ['users'], where: { id: '$caller.id' } };
    const name = await newCollection({ create: [own], change: [own] });
    bed.people.set(ada, { role: 'user', groups: [] });
    const put = (id: string, identity: Identity, data = {}) =>
      bed.call('PUT', `/db/${name}/${id}?upsert=1`, { identity, body: { data } });
    expect((await put(uuidv7(), asUser(ada))).status).toBe(403);
    expect((await put(ada, asUser(bob))).status).toBe(403);
    expect((await put(ada, asUser(ada))).status).toBe(201);
    expect((await put(ada, asUser(ada), { n: 1 })).status).toBe(200);
    expect((await put(ada, asUser(bob), { n: 2 })).status).toBe(403);
  });

  it('reads many records at once for each caller by their own values', async () => {
    const name = await newCollection({
      read: [toAnyone({ who: '$caller.id' })],
      create: ['users'],
    });
    const users = Array.from({ length: 8 }, (_, n) => ada.replace('a1', `c${n}`));
    const made = await Promise.all(users.map((who) => bed.create(name, { who }, asUser(who))));
    const reads = made.flatMap(({ id }) =>
      users.map(async (user) => {
        const { status, body } = await bed.call('GET', `/db/${name}/${id}`, {
          identity: asUser(user),
        });
        return [status, body.who === user];
      }),
    );
    const answers = await Promise.all(reads);
    expect(answers.filter(([status, isOwn]) => status === 200 && isOwn)).toHaveLength(8);
    expect(answers.filter(([status]) => status === 404)).toHaveLength(56);
  });

  it('of a field decides in each record who sees and changes it', async () => {
    const open = { to: ['owner'], where: { done: false } };
    const name = await newCollection({
      create: ['users'],
      change: ['users'],
      fields: { text: { change: [open] }, note: { read: [toAnyone({ shared: true })] } },
    });
    const identity = asUser(ada);
    const made = await bed.create(name, { done: false, text: 'a', note: 'n' }, identity);
    const path = `/db/${name}/${made.id}`;
    const patch = (data: object) => bed.call('PATCH', path, { identity, body: { data } });
    expect((await bed.call('GET', path)).body).not.toHaveProperty('note');
    // The field's rule is about the record as it was.
    expect((await patch({ text: 'b', done: true, shared: true })).body).toMatchObject({
      note: 'n',
    });
    expect((await patch({ text: 'c' })).body.error).toContain('"text"');
    const replaced = await bed.call('PUT', path, { identity, body: { data: { done: false } } });
    expect(replaced.body).toMatchObject({ text: 'b', done: false });
    expect(replaced.body).not.toHaveProperty('note');
  });
});

describe('roles in groups and verified addresses', () => {
  it('admit those who have them, in the record’s own group', async () => {
    const name = await newCollection({
      read: ['group'],
      create: ['group:member', 'group:owner'],
      change: ['group:member', { to: ['group:viewer'], where: { open: true } }],
      delete: ['group:owner'],
    });
    const create = (identity: Identity, data: object = {}) =>
      bed.call('POST', `/db/${name}`, { identity, body: { data, groupId: red } });
    const [member, viewer] = [inRed(ada, 'member'), inRed(bob, 'viewer')];
    expect((await create(viewer)).status).toBe(403);
    const { status, body } = await create(member, { open: false });
    expect(status).toBe(201);
    const path = `/db/${name}/${body.id}`;
    const patch = (identity: Identity, data = {}) =>
      bed.call('PATCH', path, { identity, body: { data } });
    expect((await bed.call('GET', path, { identity: viewer })).status).toBe(200);
    const refused = await patch(viewer);
    expect([refused.status, refused.body.hint]).toEqual([
      403,
      expect.stringContaining('group:member, group:viewer where "open" allows it'),
    ]);
    expect((await patch(member, { open: true })).status).toBe(200);
    expect((await patch(viewer, { title: 'x' })).status).toBe(200);
    expect((await bed.call('DELETE', path, { identity: member })).status).toBe(403);
    const elsewhere = asUser(bob, { groups: [{ id: red.replace('901', '902'), role: 'owner' }] });
    expect((await bed.call('DELETE', path, { identity: elsewhere })).status).toBe(404);
    expect((await bed.call('DELETE', path, { identity: inRed(bob, 'owner') })).status).toBe(200);
  });

  it('are what the identity says', async () => {
    const name = await newCollection({ create: ['verified'] });
    const create = (identity: Identity) =>
      bed.call('POST', `/db/${name}`, { identity, body: { data: {} } });
    expect((await create(asUser(ada, { emailVerified: true }))).status).toBe(201);
    const { status, body } = await create(asUser(ada));
    expect([status, body.error]).toEqual([403, expect.stringMatching(/^Confirm your e-mail/)]);
    expect((await create(anonymous())).status).toBe(401);
  });
});

describe('rules that are refused', () => {
  const condition = (n: number) => toAnyone({ a: n });
  it.each([
    [[{ to: ['anyone'] }], /"read\.0": "where"/],
    [[{ to: [], where: published }], /"access\.read\.0\.to" needs a word/],
    [
      [{ to: ['everybody'], where: published }],
      /"access\.read\.0\.to\.0" must be one of anyone.*group:admin$/,
    ],
    [[{ to: ['anyone'], where: published, or: 1 }], /or/],
    [['group:'], /"access\.read\.0" must be one of .*group:admin, or {"to"/],
    [[toAnyone({ a: { $foo: 1 } })], /"read\.0": "where": "a": "\$foo" is not an operator/],
    [[toAnyone({})], /"where": it needs a condition/],
    [['group', toAnyone({ groupId: red })], /"groupId" is the record’s own here/],
    [[1, 2, 3, 4, 5, 6, 7, 8, 9].map(condition), /at most 8 different "where"/],
    [[toAnyone({ $or: Array.from({ length: 21 }, (_, a) => ({ a })) })], /at most 20 conditions/],
    ['abcdefghi'.split('').map((role) => `group:${role}`), /at most 8 roles in groups/],
  ])('%j', async (read, message) => {
    const { status, body } = await setAccess('refused', { read, create: [], change: [] });
    expect([status, body.error]).toEqual([400, expect.stringMatching(message)]);
  });
});
