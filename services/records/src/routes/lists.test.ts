import { asKey, asOwner, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Query, search } from '../testing/search.ts';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

describe('lists and counts', () => {
  let bed: TestBed;
  const list = (query: Query, collection = 'tasks') =>
    bed.call('GET', `/db/${collection}?${search(query)}`);
  const names = async (query: Query, collection?: string): Promise<string[]> => {
    const { status, body } = await list(query, collection);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body.items.map(({ name }: { name: string }) => name);
  };
  const count = async (query: Query) =>
    (await bed.call('GET', `/db/tasks/_count?${search(query)}`)).body;
  const made: Record<string, { id: string; createdAt: string }> = {};

  beforeAll(async () => {
    bed = await createTestBed();
    const tasks = [
      { name: 'a', n: 1, tags: ['x', 'y'], address: { city: 'Berlin' }, text: 'Straße' },
      { name: 'b', n: 2, tags: [], address: { city: 'Paris' }, text: 'CAFÉ' },
      {
        name: 'c',
        n: '2',
        tags: 'x',
        items: [{ price: 5, sizes: [1, 2] }, { price: 50 }],
        text: null,
      },
      { name: 'd', n: null, tags: [['x']], items: [], text: 'café' },
      { name: 'e', items: { price: 7 }, matrix: [[1, 2], [3]], done: true },
    ];
    for (const [i, task] of tasks.entries()) {
      const identity =
        i === 1 ? { identity: asUser(bob) } : i === 0 ? { identity: asUser(ada) } : {};
      const { body } = await bed.call('POST', '/db/tasks', { ...identity, body: { data: task } });
      made[task.name] = body;
      bed.clock.pass(1000);
    }
  });
  afterAll(() => bed.close());

  it.each<[Query, string]>([
    [{}, 'abcde'],
    [{ n: 1 }, 'a'],
    [{ n: '2' }, 'c'],
    [{ n: null }, 'de'],
    [{ n: { $ne: null } }, 'abc'],
    [{ n: { $exists: true } }, 'abcd'],
    [{ n: { $exists: false } }, 'e'],
    [{ n: { $gt: 0 } }, 'ab'],
    [{ n: { $gte: 1, $lt: 2 } }, 'a'],
    [{ n: { $not: { $gt: 1 } } }, 'acde'],
    [{ n: { $in: [1, '2', null] } }, 'acde'],
    [{ n: { $nin: [1, '2', null] } }, 'b'],
    [{ n: { $in: [] } }, ''],
    [{ tags: 'x' }, 'ac'],
    [{ tags: { $eq: ['x', 'y'] } }, 'a'],
    [{ tags: { $eq: ['x'] } }, 'd'],
    [{ tags: { $all: ['x', 'y'] } }, 'a'],
    [{ tags: { $all: ['x'] } }, 'ac'],
    [{ tags: { $all: [] } }, ''],
    [{ tags: { $size: 0 } }, 'b'],
    [{ tags: { $size: 1 } }, 'd'],
    [{ tags: { $ne: 'x' } }, 'bde'],
    [{ 'tags.0': 'x' }, 'a'],
    [{ 'address.city': 'Paris' }, 'b'],
    [{ address: { city: 'Paris' } }, 'b'],
    [{ 'address.city': { $gt: 'C' } }, 'b'],
    [{ 'address.city.x': null }, 'abcde'],
    [{ 'items.price': { $gt: 40 } }, 'c'],
    [{ 'items.price': { $gt: 6, $lt: 10 } }, 'ce'],
    [{ 'items.price': { $lt: 10, $gt: 40 } }, 'c'],
    [{ 'items.1.price': 50 }, 'c'],
    [{ 'items.0.sizes': 2 }, 'c'],
    [{ 'items.sizes': null }, 'abce'],
    [{ matrix: 1 }, ''],
    [{ matrix: { $eq: [3] } }, 'e'],
    [{ 'matrix.0': { $eq: [1, 2] } }, 'e'],
    [{ 'matrix.0': 1 }, ''],
    [{ 'matrix.0.1': 2 }, 'e'],
    [{ text: { $contains: 'af' } }, 'd'],
    [{ text: { $contains: 'AFÉ', $options: 'i' } }, 'bd'],
    [{ text: { $startsWith: 'caf', $options: 'i' } }, 'bd'],
    [{ text: { $endsWith: 'ße' } }, 'a'],
    [{ text: { $contains: '%' } }, ''],
    [{ text: { $not: { $contains: 'a' } } }, 'bce'],
    [{ done: true }, 'e'],
    [{ done: { $gt: false } }, 'e'],
    [{ $or: [{ n: 1 }, { done: true }] }, 'ae'],
    [{ $nor: [{ n: 1 }, { done: true }] }, 'bcd'],
    [{ $and: [{ n: { $gt: 0 } }, { tags: 'y' }] }, 'a'],
    [{ ownerId: ada }, 'a'],
    [{ ownerId: null }, 'cde'],
    [{ ownerId: { $exists: true } }, 'abcde'],
    [{ ownerId: { $in: [ada, bob, 'x'] } }, 'ab'],
    [{ ownerId: { $nin: [ada, null] } }, 'b'],
    [{ id: 'x' }, ''],
    [{ id: null }, ''],
    [{ id: { $exists: false } }, ''],
    [{ id: { $gt: '' } }, 'abcde'],
    [{ createdAt: { $gte: '2026-01-01' } }, 'abcde'],
    [{ createdAt: { $lt: '2026-01-01' } }, ''],
    [{ createdAt: null }, ''],
    [{ createdAt: { $startsWith: '20' } }, 'abcde'],
    [{ updatedAt: { $gte: '0000-01-01' } }, 'abcde'],
    [{ updatedAt: { $gt: '9999-12-31T23:59:59.999999Z' } }, ''],
    [{ __proto__x: 1 }, ''],
    [{ 'a.__proto__': null }, 'abcde'],
    [{ 'tags.length': 2 }, ''],
  ])('where %j finds %j', async (where, expected) => {
    expect((await names({ where, sort: 'name' })).join('')).toBe(expected);
    expect(await count({ where })).toMatchObject({ count: expected.length });
  });

  it('compares ids and times of a record exactly', async () => {
    const { id, createdAt } = made.c ?? { id: '', createdAt: '' };
    const at = (sign: string) =>
      names({ where: { createdAt: { [sign]: createdAt } }, sort: 'name' });
    expect(await names({ where: { createdAt } })).toEqual(['c']);
    expect(await names({ where: { createdAt: createdAt.replace('Z', '+00:00') } })).toEqual(['c']);
    expect(await names({ where: { createdAt: createdAt.replace('Z', '001Z') } })).toEqual([]);
    expect((await at('$gt')).join('')).toBe('de');
    expect((await at('$gte')).join('')).toBe('cde');
    expect((await at('$lt')).join('')).toBe('ab');
    expect((await at('$lte')).join('')).toBe('abc');
    expect(
      await names({ where: { createdAt: { $in: [createdAt, made.a?.createdAt] } }, sort: 'name' }),
    ).toEqual(['a', 'c']);
    expect(await names({ where: { updatedAt: createdAt } })).toEqual(['c']);
    expect(
      await names({ where: { updatedAt: { $gt: createdAt.replace('Z', '001Z') } }, sort: 'name' }),
    ).toEqual(['d', 'e']);
    expect(await names({ where: { id } })).toEqual(['c']);
    expect(await names({ where: { id: id.toUpperCase() } })).toEqual(['c']);
    expect(
      await names({ where: { id: { $in: [id, made.e?.id, 'x', 5, null] } }, sort: 'name' }),
    ).toEqual(['c', 'e']);
    expect(await names({ where: { id: { $ne: id } }, sort: 'name' })).toEqual(['a', 'b', 'd', 'e']);
    expect(await names({ where: { id: { $gt: id } }, sort: 'id' })).toEqual(['d', 'e']);
  });

  it('sorts newest first unless told otherwise', async () => {
    expect((await names({})).join('')).toBe('edcba');
    expect((await names({ sort: 'createdAt' })).join('')).toBe('abcde');
    expect((await names({ sort: 'n' })).join('')).toBe('decab');
    expect((await names({ sort: '-n' })).join('')).toBe('baced');
    expect((await names({ sort: '-address.city, name' })).join('')).toBe('bacde');
  });

  it('pages by limit and offset', async () => {
    expect((await names({ limit: 2, offset: 1 })).join('')).toBe('dc');
    expect((await list({ limit: 2, offset: 1 })).body.hasMore).toBe(true);
    expect((await list({ limit: 2, offset: 3 })).body).toMatchObject({
      hasMore: false,
      nextCursor: null,
    });
    expect((await list({ offset: 10_000 })).body.items).toEqual([]);
    expect((await list({ limit: 0 })).body).toEqual({
      items: [],
      hasMore: false,
      nextCursor: null,
    });
    expect((await list({ limit: 5000 })).body.items).toHaveLength(5);
    for (const query of [
      { limit: -1 },
      { limit: 1.5 },
      { limit: 'x' },
      { offset: -1 },
      { mine: 'x' },
    ]) {
      expect(await list(query)).toMatchObject({ status: 400, body: { code: 'invalid_query' } });
    }
    const beyond = await list({ offset: 10_001 });
    expect(beyond).toMatchObject({ status: 400, body: { code: 'invalid_query' } });
    expect(beyond.body.error).toContain('use cursor');
  });

  it('pages by cursor, which opens only the list that gave it', async () => {
    for (const query of [
      {},
      { sort: 'n' },
      { sort: '-tags,name', where: { name: { $ne: 'b' } } },
    ]) {
      const whole = await names(query);
      const paged: string[] = [];
      let cursor: string | null = null;
      do {
        const { body } = await list({ ...query, limit: 2, ...(cursor ? { cursor } : {}) });
        paged.push(...body.items.map(({ name }: { name: string }) => name));
        cursor = body.nextCursor;
        expect(body.hasMore).toBe(cursor !== null);
      } while (cursor !== null);
      expect(paged).toEqual(whole);
    }
    const { nextCursor } = (await list({ limit: 2, sort: 'n', where: { n: 1, tags: 'x' } })).body;
    expect(nextCursor).toBeNull();
    const cursor = String((await list({ limit: 2, sort: 'n' })).body.nextCursor);
    expect((await list({ limit: 1, sort: ' n', cursor, where: '{ }' })).status).toBe(200);
    const tampered = `${cursor.slice(0, -2)}${cursor.endsWith('AA') ? 'BB' : 'AA'}`;
    const others: Query[] = [
      { cursor },
      { sort: '-n', cursor },
      { sort: 'n', cursor, where: { n: 1 } },
      { sort: 'n', cursor: tampered },
      { sort: 'n', cursor: `${cursor}=` },
      { sort: 'n', cursor: cursor.slice(1) },
      { sort: 'n', cursor: 'x' },
      { sort: 'n', cursor: '' },
      { sort: 'n', cursor: Buffer.from('["=1"],"x"').toString('base64url') },
    ];
    for (const query of others) {
      expect(await list(query)).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } });
    }
    expect((await list({ sort: 'n', cursor }, 'other')).status).toBe(400);
    const stranger = asKey({ project: { ...testProject, id: 'other', number: 2002 } });
    const elsewhere = await bed.call('GET', `/db/tasks?${search({ sort: 'n', cursor })}`, {
      identity: stranger,
    });
    expect(elsewhere.status).toBe(400);
    expect(await list({ sort: 'n', cursor, offset: 1 })).toMatchObject({
      status: 400,
      body: { code: 'invalid_query' },
    });
  });

  it('goes on behind a record with three keys as long and as hard to write as keys get', async () => {
    for (const length of [499, 500, 511, 512]) {
      const name = `quotes${length}`;
      const quotes = '"'.repeat(length);
      for (const n of [1, 2]) await bed.create(name, { n, a: quotes, b: quotes, c: quotes });
      const query = { sort: 'a,b,c', limit: 1 };
      const { items, nextCursor } = (await list(query, name)).body;
      const next = await list({ ...query, cursor: nextCursor }, name);
      expect([length, items[0].n, next.body.items?.[0].n]).toEqual([length, 1, 2]);
    }
  });

  it('shows a user their own with mine=1, and nobody else anything', async () => {
    const mine = (path: string, identity = asUser(ada)) =>
      bed.call('GET', `${path}?mine=1`, { identity });
    expect((await mine('/db/tasks')).body.items).toEqual([expect.objectContaining({ name: 'a' })]);
    expect((await mine('/db/tasks/_count')).body).toEqual({ count: 1 });
    expect(
      (await mine('/db/tasks', asUser('018f0000-0000-7000-8000-0000000000c1'))).body.items,
    ).toEqual([]);
    for (const path of ['/db/tasks?mine=1', '/db/tasks/_count?mine=true']) {
      expect((await bed.call('GET', path)).status).toBe(401);
      expect((await bed.call('GET', path, { identity: asOwner() })).status).toBe(401);
      expect((await bed.call('GET', path, { identity: asKey() })).status).toBe(401);
    }
    expect((await bed.call('GET', '/db/tasks?mine=0')).body.items).toHaveLength(5);
  });

  it('answers an unknown collection as an empty one, and a bad query as a bad query', async () => {
    expect((await list({}, 'nowhere')).body).toEqual({
      items: [],
      hasMore: false,
      nextCursor: null,
    });
    expect((await bed.call('GET', '/db/nowhere/_count')).body).toEqual({ count: 0 });
    expect((await list({ where: '{' }, 'nowhere')).body.code).toBe('invalid_where');
    expect((await list({ sort: '$a' }, 'nowhere')).body.code).toBe('invalid_sort');
    for (const name of ['1a', 'a b', 'é', '_a', 'a'.repeat(64)]) {
      expect((await list({}, encodeURIComponent(name))).status).toBe(400);
      expect(
        (await bed.call('POST', `/db/${encodeURIComponent(name)}`, { body: { data: {} } })).status,
      ).toBe(400);
    }
  });
});
