import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asOwner, asUser } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const red = '018f0000-0000-7000-8000-0000000000e1';
const blue = '018f0000-0000-7000-8000-0000000000e2';
const inGroups = (user: string, ...ids: string[]): Identity =>
  asUser(user, { groups: ids.map((id) => ({ id, role: 'member' })) });
const adaInRed = inGroups(ada, red);
const bobInRed = inGroups(bob, red, blue);
const bobOutside = asUser(bob);

describe('records of a group', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
    for (const [collection, access] of [
      ['cards', 'team'],
      ['notes', { read: ['owner', 'group'], create: ['users'], change: ['owner'] }],
      ['plain', 'shared'],
    ] as const)
      await bed.call('PUT', `/platform/projects/testproject/collections/${collection}`, {
        identity: asOwner(),
        body: { access },
      });
  });
  afterAll(() => bed.close());

  const create = (collection: string, identity: Identity, body: object) =>
    bed.call('POST', `/db/${collection}`, { identity, body });
  const card = async (groupId = red, identity = adaInRed) =>
    (await create('cards', identity, { data: { title: 'A' }, groupId })).body;
  const ids = async (path: string, identity: Identity) => {
    const { body } = await bed.call('GET', path, { identity });
    return body.items.map(({ id }: { id: string }) => id);
  };

  it('are its members’ to read and change, and show their group', async () => {
    const made = await card();
    expect(made).toEqual({
      id: made.id,
      ownerId: ada,
      groupId: red,
      title: 'A',
      createdAt: made.createdAt,
      updatedAt: made.createdAt,
    });
    const path = `/db/cards/${made.id}`;
    expect((await bed.call('GET', path, { identity: bobInRed })).body).toEqual(made);
    const changed = await bed.call('PATCH', path, {
      identity: bobInRed,
      body: { data: { title: 'B' } },
    });
    expect(changed.body).toMatchObject({ title: 'B', groupId: red, ownerId: ada });
    for (const identity of [bobOutside, inGroups(bob, blue)]) {
      for (const method of ['GET', 'DELETE'])
        expect((await bed.call(method, path, { identity })).status).toBe(404);
      const patch = { identity, body: { data: { title: 'mine' } } };
      expect((await bed.call('PATCH', path, patch)).status).toBe(404);
    }
    // Who leaves the group loses its records, their own too.
    expect((await bed.call('GET', path, { identity: asUser(ada) })).status).toBe(404);
  });

  it('are made by its members and the project’s own callers alone, whatever else the rules allow', async () => {
    const body = { data: {}, groupId: red };
    for (const [collection, identity, status] of [
      ['cards', bobOutside, 403],
      ['cards', inGroups(bob, blue), 403],
      ['cards', anonymous(), 401],
      ['notes', bobOutside, 403],
      ['notes', anonymous(), 401],
      ['cards', asKey(), 201],
      ['cards', asOwner(), 201],
      ['notes', bobInRed, 201],
    ] as const)
      expect([collection, (await create(collection, identity, body)).status]).toEqual([
        collection,
        status,
      ]);
    const { status, body: refusal } = await create('cards', adaInRed, { data: { groupId: red } });
    expect([status, refusal.hint]).toEqual([
      403,
      expect.stringContaining('beside "data": {"data": {…}, "groupId": "<id>"}'),
    ]);
    expect((await create('notes', adaInRed, { data: {} })).body).not.toHaveProperty('groupId');
    const upperCase = { data: {}, groupId: red.toUpperCase() };
    expect((await create('cards', adaInRed, upperCase)).body.groupId).toBe(red);
  });

  it('keep their group, whatever data names', async () => {
    const made = await card();
    const path = `/db/cards/${made.id}`;
    const data = { title: 'C', groupId: blue };
    for (const method of ['PATCH', 'PUT']) {
      const { body } = await bed.call(method, path, { identity: bobInRed, body: { data } });
      expect(body).toMatchObject({ title: 'C', groupId: red });
    }
    const update = { update: [{ id: made.id, data: { ...data, title: 'D' } }] };
    await bed.call('POST', '/db/cards/_batch', { identity: bobInRed, body: update });
    const raw = await bed.database.query<{ group_id: string; data: object }>(
      'SELECT group_id, data FROM records WHERE project_id = $1 AND id = $2',
      [1001, made.id],
    );
    expect(raw).toEqual([{ group_id: red, data: { title: 'D' } }]);
    const both = await create('cards', adaInRed, { data: { groupId: blue }, groupId: red });
    expect(both.body.groupId).toBe(red);
  });

  it('are found by a filter on groupId as by the parameter, and summed up for one group', async () => {
    const [green, other] = [
      '018f0000-0000-7000-8000-0000000000e3',
      '018f0000-0000-7000-8000-0000000000e4',
    ];
    const bobInBoth = inGroups(bob, green, other);
    for (const [groupId, column] of [
      [green, 'todo'],
      [green, 'done'],
      [other, 'done'],
    ])
      await create('cards', bobInBoth, { data: { column }, groupId });
    const get = async (path: string, where: object, identity = bobInBoth) => {
      const query = `where=${encodeURIComponent(JSON.stringify(where))}`;
      return bed.call('GET', `/db/cards${path}${path.includes('?') ? '&' : '?'}${query}`, {
        identity,
      });
    };
    const ofGreen = { groupId: green.toUpperCase(), column: 'done' };
    expect((await get('', ofGreen)).body.items).toMatchObject([{ groupId: green, column: 'done' }]);
    expect((await get('/_count', { $and: [ofGreen] })).body).toEqual({ count: 1 });
    expect((await get('/_aggregate?group=column', { groupId: green })).body.groups).toEqual([
      { group: 'done', count: 1 },
      { group: 'todo', count: 1 },
    ]);
    const grouped = '/_aggregate?group=groupId,column&sort=groupId,column';
    expect((await get(grouped, { column: { $exists: true } })).body).toEqual({
      groups: [
        { group: [green, 'done'], count: 1 },
        { group: [green, 'todo'], count: 1 },
        { group: [other, 'done'], count: 1 },
      ],
    });
    const distinct = await get('/_aggregate?distinct=groupId', { column: 'done' });
    expect(distinct.body.groups).toEqual([{ count: 2, distinct: { groupId: 2 } }]);
    expect((await get('/_count', { groupId: green }, adaInRed)).body.count).toBe(0);
    for (const where of [
      { groupId: 'mine' },
      { groupId: { $in: [green, other] } },
      { $or: [{ groupId: green }, { column: 'todo' }] },
      { $and: [{ groupId: green }, { groupId: other }] },
    ])
      expect(await get('', where)).toMatchObject({
        status: 400,
        body: { code: 'invalid_where', hint: expect.stringContaining('{"groupId":"<id>"}') },
      });
    // Where rules know no groups it is a field of the app's own.
    await create('plain', bobOutside, { data: { groupId: 'mine' } });
    const own = encodeURIComponent('{"groupId":"mine"}');
    expect(await ids(`/db/plain?where=${own}`, bobOutside)).toHaveLength(1);
    const inData = await bed.call('GET', '/db/plain/_aggregate?group=groupId', {
      identity: bobOutside,
    });
    expect(inData.body.groups).toEqual([{ group: 'mine', count: 1 }]);
  });

  it('are listed and counted by group, never beyond what the caller may see', async () => {
    const mine = [await card(blue, bobInRed), await card(blue, bobInRed)].map(({ id }) => id);
    const inBlue = `/db/cards?group=${blue}`;
    expect(await ids(inBlue, bobInRed)).toEqual(mine.toReversed());
    expect(await ids(inBlue, asKey())).toEqual(mine.toReversed());
    expect(await ids(inBlue, adaInRed)).toEqual([]);
    expect(await ids(`${inBlue}&sort=title`, inGroups(bob, blue))).toHaveLength(2);
    const count = async (path: string, identity: Identity) =>
      (await bed.call('GET', path, { identity })).body.count;
    expect(await count(`/db/cards/_count?group=${blue}`, bobInRed)).toBe(2);
    expect(await count(`/db/cards/_count?group=${blue}`, adaInRed)).toBe(0);

    const first = await bed.call('GET', `${inBlue}&limit=1`, { identity: bobInRed });
    const cursor = encodeURIComponent(first.body.nextCursor);
    expect(await ids(`${inBlue}&limit=1&cursor=${cursor}`, bobInRed)).toEqual([mine[0]]);
    const elsewhere = await bed.call('GET', `/db/cards?group=${red}&cursor=${cursor}`, {
      identity: bobInRed,
    });
    expect(elsewhere.body.code).toBe('invalid_cursor');
    const other = asKey({ project: { ...asKey().project, id: 'other', number: 1002 } });
    expect(await ids(inBlue, other)).toEqual([]);
  });

  it('are written in batches, each for a group of the caller’s', async () => {
    const batch = (identity: Identity, groupIds: (string | undefined)[]) =>
      bed.call('POST', '/db/notes/_batch', {
        identity,
        body: { create: groupIds.map((groupId) => ({ data: {}, groupId })) },
      });
    const { body } = await batch(bobInRed, [red, blue, undefined]);
    const made = body.create.map(({ id }: { id: string }) => id);
    expect(await ids(`/db/notes?group=${red}`, adaInRed)).toContain(made[0]);
    expect(await ids(`/db/notes?group=${red}`, adaInRed)).not.toContain(made[1]);
    const refused = await batch(adaInRed, [red, blue]);
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(refused.body.error).toContain('create[1]');
  });

  it('are for collections whose rules name groups; elsewhere `groupId` in data is the app’s own', async () => {
    const refused = await create('plain', adaInRed, { data: {}, groupId: red });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'invalid_body', hint: expect.stringContaining('"access":"team"') },
    });
    expect(await bed.call('GET', `/db/plain?group=${red}`, { identity: adaInRed })).toMatchObject({
      status: 400,
      body: { code: 'invalid_query' },
    });
    const { body } = await create('plain', adaInRed, { data: { groupId: 'a table of ours' } });
    expect(body.groupId).toBe('a table of ours');
    for (const wrong of ['x', ''])
      expect((await create('cards', adaInRed, { data: {}, groupId: wrong })).status).toBe(400);
    expect((await bed.call('GET', '/db/cards?group=x', { identity: adaInRed })).status).toBe(400);
  });
});
