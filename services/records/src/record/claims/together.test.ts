import { setTimeout as pause } from 'node:timers/promises';
import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { ada, bob, createTestBed, type TestBed } from '../../testing/test-bed.ts';

const path = `/platform/projects/${testProject.id}/collections`;
const red = '018f0000-0000-7000-8000-0000000000e1';
const blue = '018f0000-0000-7000-8000-0000000000e2';
type Shown = { field: string | string[]; state: string; duplicates?: string[] };

describe('fields that are unique together', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const put = (collection: string, body: object) =>
    bed.call('PUT', `${path}/${collection}`, { identity: asOwner(), body });
  const shown = async (collection: string): Promise<Shown[]> => {
    const { body } = await bed.call('GET', path, { identity: asOwner() });
    return body.items.find(({ name }: { name: string }) => name === collection).unique;
  };
  const untilBuilt = (collection: string) =>
    until(async () => (await shown(collection)).every(({ state }) => state !== 'building'));
  const call = (method: string, at: string, body?: object, identity: Identity = anonymous()) =>
    bed.call(method, `/db/${at}`, { identity, ...(body && { body }) });
  const isTaken = (answer: { status: number; body: { code?: string } }) =>
    answer.status === 409 && answer.body.code === 'not_unique';

  /** Claims that no record accounts for, and records without theirs, where `a` and `b` are unique together. */
  const wrongClaims = (collection: string) =>
    bed.database.query(
      `WITH fields AS (
         SELECT project_id, coll_id, number FROM unique_fields JOIN collections USING (project_id, coll_id)
         WHERE name = $1 AND state = 'ready' AND fields = '{a,b}'),
       wanted AS (
         SELECT number, id, together_key(ARRAY[unique_key(data -> 'a'), unique_key(data -> 'b')]) AS key
         FROM records JOIN fields USING (project_id, coll_id)),
       claims AS (
         SELECT number, record_id AS id, key FROM unique_values JOIN fields USING (project_id, coll_id, number))
       SELECT 'missing' AS problem, number, id FROM (
         SELECT * FROM wanted WHERE key IS NOT NULL EXCEPT ALL SELECT number, id, key FROM claims) missing
       UNION ALL SELECT 'left over', number, id FROM (
         SELECT number, id, key FROM claims EXCEPT ALL SELECT * FROM wanted) left_over
       UNION ALL SELECT 'nothing is watched', 0, NULL WHERE NOT EXISTS (SELECT FROM fields)`,
      [collection],
    );

  it('are shown as they were asked for; who has the same values is a 409 that names them, on every way', async () => {
    const unique = ['code', ['post', 'ownerId']];
    const set = await put('likes', { unique, access: 'public-read' });
    expect(set.body.unique).toMatchObject(unique.map((field) => ({ field })));
    await untilBuilt('likes');
    const identity = asUser(ada);
    await bed.create('likes', { post: 1 }, identity);
    const other = await bed.create('likes', { post: 2 }, identity);
    const data = { post: 1 };
    const answers = [
      await call('POST', 'likes', { data }, identity),
      await call('PATCH', `likes/${other.id}`, { data }, identity),
      await call('PATCH', `likes/${other.id}?merge=deep`, { data }, identity),
      await call('PATCH', `likes/${other.id}`, { inc: { post: -1 } }, identity),
      await call('PUT', `likes/${other.id}`, { data }, identity),
      await call('PUT', `likes/${uuidv7()}?upsert=1`, { data }, identity),
      await call('POST', 'likes/_batch', { create: [{ data: { post: 9 } }, { data }] }, identity),
      await call('POST', 'likes/_batch', { update: [{ id: other.id, data }] }, identity),
    ];
    expect(answers.map(isTaken)).toEqual(answers.map(() => true));
    for (const { body } of answers) expect(body.error).toContain('"post" and "ownerId" together');
    await bed.create('likes', data, asUser(bob));
    expect((await put('likes', { unique: ['code', ['ownerId', 'post']] })).body.unique).toEqual(
      unique.map((field) => ({ field, state: 'ready' })),
    );
  });

  it('are told apart wherever one value ends and the next begins; one that is missing claims nothing', async () => {
    await put('pairs', { unique: [['a', 'b']] });
    await untilBuilt('pairs');
    const different = [
      { a: 'x', b: 'yz' },
      { a: 'xy', b: 'z' },
      { a: '', b: 'xyz' },
      { a: 'yz', b: 'x' },
      { a: ['x', 'yz'], b: '' },
      { a: 1, b: 11 },
      { a: 11, b: 1 },
      { a: '1', b: 11 },
    ];
    for (const data of different) await bed.create('pairs', data);
    for (const data of [{ a: 'x' }, { b: 'yz' }, { a: 'x', b: null }, {}])
      for (const again of [data, data]) await bed.create('pairs', again);
    for (const data of [...different, { a: 1.0, b: 11 }])
      expect([data, isTaken(await call('POST', 'pairs', { data }))]).toEqual([data, true]);
    expect(await wrongClaims('pairs')).toEqual([]);
  });

  it('are claimed anew by a change of one of them, with what the record has of the other', async () => {
    await put('slots', { unique: [['a', 'b']] });
    await untilBuilt('slots');
    const first = await bed.create('slots', { a: 'monday', b: 9 });
    const second = await bed.create('slots', { a: 'tuesday', b: 9 });
    const patch = (id: string, body: object) => call('PATCH', `slots/${id}`, body);
    expect(isTaken(await patch(second.id, { data: { a: 'monday' } }))).toBe(true);
    expect((await patch(second.id, { data: { c: 'free' } })).status).toBe(200);
    expect((await patch(first.id, { unset: ['b'] })).status).toBe(200);
    expect((await patch(second.id, { data: { a: 'monday' } })).status).toBe(200);
    expect(isTaken(await patch(first.id, { data: { b: 9 } }))).toBe(true);
    expect((await call('DELETE', `slots/${second.id}`)).status).toBe(200);
    expect((await patch(first.id, { data: { b: 9 } })).status).toBe(200);
    expect(await wrongClaims('slots')).toEqual([]);
  });

  it('swap in a batch, and are freed by what the batch deletes', async () => {
    await put('swaps', { unique: [['a', 'b']] });
    await untilBuilt('swaps');
    const [x, y, gone] = [
      await bed.create('swaps', { a: 1, b: 1 }),
      await bed.create('swaps', { a: 1, b: 2 }),
      await bed.create('swaps', { a: 1, b: 3 }),
    ];
    const batch = {
      create: [{ data: { a: 1, b: 3 } }],
      update: [
        { id: x?.id, data: { b: 2 } },
        { id: y?.id, data: { b: 1 } },
      ],
      delete: [gone?.id],
    };
    expect((await call('POST', 'swaps/_batch', batch)).status).toBe(200);
    expect(await wrongClaims('swaps')).toEqual([]);
  });

  it('may be the group and the owner of a record', async () => {
    await put('votes', { unique: [['groupId', 'ownerId']], access: 'team' });
    await untilBuilt('votes');
    const groups = [red, blue].map((id) => ({ id, role: 'member' }));
    const vote = (user: string, groupId: string) =>
      call('POST', 'votes', { data: {}, groupId }, asUser(user, { groups }));
    expect((await vote(ada, red)).status).toBe(201);
    expect((await vote(ada, blue)).status).toBe(201);
    expect((await vote(bob, red)).status).toBe(201);
    expect(isTaken(await vote(ada, red.toUpperCase()))).toBe(true);
    expect((await call('POST', 'votes', { data: {}, groupId: red }, asKey())).status).toBe(201);
    expect((await call('POST', 'votes', { data: {}, groupId: red }, asKey())).status).toBe(201);
    // Where no rule names groups it is a field of the app's own.
    await put('plain', { unique: [['groupId', 'n']] });
    await bed.create('plain', { groupId: 'a', n: 1 });
    await bed.create('plain', { groupId: 'b', n: 1 });
    expect(isTaken(await call('POST', 'plain', { data: { groupId: 'a', n: 1 } }))).toBe(true);
  });

  it('are built over records that are there, and name two that have the same ones', async () => {
    const twins = [
      await bed.create('twins', { a: 1, b: 2 }),
      await bed.create('twins', { a: 1, b: 2 }),
    ];
    await put('twins', { unique: [['a', 'b']] });
    await untilBuilt('twins');
    const duplicates = twins.map(({ id }) => id);
    expect(await shown('twins')).toEqual([{ field: ['a', 'b'], state: 'failed', duplicates }]);
    expect((await call('DELETE', `twins/${duplicates[0]}`)).status).toBe(200);
    await put('twins', { unique: [['a', 'b']] });
    await untilBuilt('twins');
    expect(await shown('twins')).toEqual([{ field: ['a', 'b'], state: 'ready' }]);
    expect(isTaken(await call('POST', 'twins', { data: { a: 1, b: 2 } }))).toBe(true);
    expect(await wrongClaims('twins')).toEqual([]);
  });

  it('admit one of 50 writers of the same values, whichever way each writes', async () => {
    await put('race', { unique: [['a', 'b']] });
    await untilBuilt('race');
    const spare = await Promise.all(
      Array.from({ length: 50 }, () => bed.create('race', { b: 'one' })),
    );
    const data = { a: 'same', b: 'one' };
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => {
        switch (i % 4) {
          case 0:
            return call('POST', 'race', { data });
          case 1:
            return call('PATCH', `race/${spare[i]?.id}`, { data: { a: 'same' } });
          case 2:
            return call('PUT', `race/${uuidv7()}?upsert=1`, { data });
          default:
            return call('POST', 'race/_batch', { create: [{ data: {} }, { data }] });
        }
      }),
    );
    const done = answers.filter(({ status }) => status < 300);
    expect([done.length, answers.filter(isTaken).length]).toEqual([1, 49]);
    const { count } = (await call('GET', `race/_count?where=${JSON.stringify(data)}`)).body;
    expect(count).toBe(1);
    expect(await wrongClaims('race')).toEqual([]);
  });

  it('keep exactly the claims of what there is, whatever runs at once and while connections break', async () => {
    await put('busy', { unique: [['a', 'b']] });
    const ids = await Promise.all(
      Array.from({ length: 8 }, async () => (await bed.create('busy', {})).id),
    );
    const write = async (writer: number) => {
      for (let i = 0; i < 20; i++) {
        const at = `busy/${ids[(i * 3 + writer) % ids.length]}`;
        const n = (i * 7 + writer) % 3;
        await call('PATCH', at, { data: { a: n } });
        await call('PATCH', at, { data: { b: writer % 3 } });
        await call('POST', 'busy/_batch', {
          create: [{ data: { a: 'new', b: writer * 100 + i } }],
          update: [
            { id: ids[i % 8], data: { b: n } },
            { id: ids[(i + 1) % 8], unset: ['a'] },
          ],
        });
        await call('PUT', at, { data: { a: n, b: n } });
      }
    };
    let isOver = false;
    const breakConnections = async () => {
      while (!isOver) {
        await bed.ownerDatabase.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND query LIKE '%unique_values%' AND pid <> pg_backend_pid()`,
        );
        await pause(50);
      }
    };
    const breaking = breakConnections();
    await Promise.all([0, 1, 2, 3].map(write));
    isOver = true;
    await breaking;
    await untilBuilt('busy');
    expect(await wrongClaims('busy')).toEqual([]);
  });

  it.each([
    [[['a', 'a']], 'twice'],
    [[['a', 'id']], '"id"'],
    [[['a', 'createdAt']], '"createdAt"'],
    [[['a', '$x']], '"$x"'],
    [[['a', 'b+c']], 'several'],
    [[[]], 'at least 2'],
    [[['a']], 'at least 2'],
    [[['a', 'b', 'c', 'd', 'e']], 'list of 2 to 4'],
    [[['a', 1]], 'list of 2 to 4'],
    [[['a', ['b']]], 'list of 2 to 4'],
    [[{ a: 1 }], 'list of 2 to 4'],
  ])('%j is refused', async (unique, why) => {
    const { status, body } = await put('refused', { unique });
    expect([status, body.code]).toEqual([400, 'invalid_body']);
    expect(body.error).toContain(why);
  });
});
