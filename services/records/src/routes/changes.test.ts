import { randomUUID } from 'node:crypto';
import { recordRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import {
  anonymous,
  asKey,
  asOwner,
  asUser,
  refusesStrangers,
  testProject,
  until,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eraseLogBefore } from '../change-log/erase-log.ts';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

interface Change {
  type: string;
  id: string;
  record?: Record<string, unknown>;
}

const collectionsPath = `/platform/projects/${testProject.id}/collections`;

describe('listChanges', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  refusesStrangers(
    recordRoutes.listChanges,
    () => bed.http,
    () => ({ path: '/db/notes/_changes?since=now' }),
  );

  const set = (name: string, body: object) =>
    bed.call('PUT', `${collectionsPath}/${name}`, { identity: asOwner(), body });
  /** Follows a collection as a client does. */
  const follow = async (name: string, identity: Identity, query = '') => {
    const read = async (since: string) =>
      bed.call('GET', `/db/${name}/_changes?since=${since}${query}`, { identity });
    let { cursor } = (await read('now')).body;
    const told: Change[] = [];
    return {
      told,
      read: () => read(cursor),
      cursor: () => cursor as string,
      /** Once so many changes were told. */
      async next(count: number): Promise<string[]> {
        await until(async () => {
          const { status, body } = await read(cursor);
          if (status !== 200) throw new Error(`answered ${status} ${body.code}`);
          cursor = body.cursor;
          told.push(...body.items);
          return told.length >= count;
        });
        return told.splice(0).map(({ type, id }) => `${type} ${id}`);
      },
    };
  };

  it('tells of each change what the record is, or that it is gone, in pages', async () => {
    const all = await follow('notes', asKey(), '&limit=1');
    const { id } = await bed.create('notes', { n: 1 });
    expect(await all.next(1)).toEqual([`create ${id}`]);
    await bed.call('PATCH', `/db/notes/${id}`, { identity: asKey(), body: { data: { n: 2 } } });
    await until(async () => (await all.read()).body.items.length === 1);
    const [change] = (await all.read()).body.items;
    const got = await bed.call('GET', `/db/notes/${id}`);
    expect(change).toEqual({
      seq: expect.any(Number),
      type: 'update',
      id,
      record: got.body,
      changedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    await bed.call('DELETE', `/db/notes/${id}`, { identity: asKey() });
    expect(await all.next(2)).toEqual([`delete ${id}`, `delete ${id}`]);
  });

  it('answers about a megabyte at once, however much is asked for', async () => {
    const all = await follow('large', asKey(), '&limit=1000');
    const text = 'x'.repeat(300_000);
    const made: string[] = [];
    for (let n = 0; n < 9; n++) made.push((await bed.create('large', { n, text })).id);
    await until(async () => (await all.read()).body.hasMore);
    const { body } = await all.read();
    expect(body.items.map(({ id }: Change) => id)).toEqual(made.slice(0, 4));
    expect(await all.next(9)).toEqual(made.map((id) => `create ${id}`));
  });

  it('a record that fits no more, or may no longer be read, leaves; strangers learn of none', async () => {
    await set('tasks', {
      access: {
        read: ['owner', { to: ['users'], where: { open: true } }],
        create: ['users'],
        change: ['owner'],
        fields: { note: { read: ['owner'] } },
      },
    });
    const [own, open, other, stranger] = await Promise.all([
      follow('tasks', asUser(ada)),
      follow('tasks', asUser(ada), `&where=${encodeURIComponent('{"open":true}')}`),
      follow('tasks', asUser(bob)),
      follow('tasks', asUser(bob), '&mine=1'),
    ]);
    const asAda = { identity: asUser(ada) };
    const { id } = await bed.create('tasks', { open: true, note: 'mine' }, asUser(ada));
    await own.next(1);
    await open.next(1);
    await until(async () => {
      const { body } = await other.read();
      return body.items.length === 1 && body.items[0].record.note === undefined;
    });
    await other.next(1);
    await bed.call('PATCH', `/db/tasks/${id}`, { ...asAda, body: { data: { open: false } } });
    expect(await own.next(1)).toEqual([`update ${id}`]);
    expect(await open.next(1)).toEqual([`leave ${id}`]);
    expect(await other.next(1)).toEqual([`leave ${id}`]);
    await bed.call('PATCH', `/db/tasks/${id}`, { ...asAda, body: { data: { note: 'x' } } });
    await bed.call('DELETE', `/db/tasks/${id}`, asAda);
    expect(await own.next(2)).toEqual([`delete ${id}`, `delete ${id}`]);
    for (const blind of [open, other, stranger])
      expect((await blind.read()).body.items).toEqual([]);
    expect((await bed.call('GET', '/db/tasks/_changes?mine=1')).status).toBe(401);
  });

  it('whom a record is shared with is told of it, also as its share begins and ends', async () => {
    await set('shared', {
      access: { read: ['owner', 'shared'], create: ['users'], change: ['owner'] },
    });
    const [own, other, stranger] = await Promise.all([
      follow('shared', asUser(ada)),
      follow('shared', asUser(bob)),
      follow('shared', anonymous({ caller: 'user', userId: testProject.ownerId })),
    ]);
    const { id } = await bed.create('shared', { n: 1 }, asUser(ada));
    await own.next(1);
    // Read before the share is given, of which entries that are read later would tell.
    expect(await other.next(0)).toEqual([]);
    const asAda = { identity: asUser(ada) };
    const body = { userId: bob, may: 'read' };
    const shares = `/db/shared/${id}/_shares`;
    expect((await bed.call('PUT', shares, { ...asAda, body })).status).toBe(200);
    expect(await other.next(1)).toEqual([`update ${id}`]);
    await bed.call('PATCH', `/db/shared/${id}`, { ...asAda, body: { data: { n: 2 } } });
    expect(await other.next(1)).toEqual([`update ${id}`]);
    expect((await bed.call('DELETE', `${shares}/${bob}`, asAda)).status).toBe(200);
    expect(await other.next(1)).toEqual([`leave ${id}`]);
    await bed.call('PATCH', `/db/shared/${id}`, { ...asAda, body: { data: { n: 3 } } });
    expect(await own.next(2)).toEqual([`update ${id}`, `update ${id}`]);
    expect(await other.next(0)).toEqual([]);
    expect((await bed.call('PUT', shares, { ...asAda, body })).status).toBe(200);
    expect(await other.next(1)).toEqual([`update ${id}`]);
    await bed.call('DELETE', `/db/shared/${id}`, asAda);
    expect(await other.next(1)).toEqual([`delete ${id}`]);
    // Of shares it tells those alone whose they are.
    expect(await own.next(1)).toEqual([`delete ${id}`]);
    expect((await stranger.read()).body.items).toEqual([]);
  });

  it('whom a record was shared with is told that it is gone, where it fitted no more before it went', async () => {
    await set('passed', {
      access: {
        read: ['owner', { to: ['shared'], where: { open: true } }],
        create: ['users'],
        change: ['owner'],
      },
    });
    const asAda = { identity: asUser(ada) };
    const { id } = await bed.create('passed', { open: true }, asUser(ada));
    const body = { userId: bob, may: 'read' };
    await bed.call('PUT', `/db/passed/${id}/_shares`, { ...asAda, body });
    await bed.call('PATCH', `/db/passed/${id}`, { ...asAda, body: { data: { n: 1 } } });
    const other = await follow('passed', asUser(bob));
    const stranger = await follow('passed', anonymous({ caller: 'user', userId: randomUUID() }));
    await bed.call('PATCH', `/db/passed/${id}`, { ...asAda, body: { data: { open: false } } });
    await bed.call('DELETE', `/db/passed/${id}`, asAda);
    expect((await other.next(1)).at(-1)).toBe(`delete ${id}`);
    expect((await stranger.read()).body.items).toEqual([]);
  });

  it('a cursor is of no use to others, under other rules, and once the log behind it is gone', async () => {
    const [mine, early] = await Promise.all([
      follow('notes', asUser(ada)),
      follow('not-yet', asUser(ada)),
    ]);
    const read = (since: string, identity: Identity, more = '') =>
      bed.call('GET', `/db/notes/_changes?since=${since}${more}`, { identity });
    const gone = { status: 410, body: { code: 'cursor_gone' } };
    expect(await read(mine.cursor(), asUser(bob))).toMatchObject(gone);
    expect(await read(mine.cursor(), asUser(ada), '&mine=1')).toMatchObject({
      status: 400,
      body: { code: 'invalid_cursor' },
    });
    await set('notes', { access: 'members' });
    expect(await mine.read()).toMatchObject(gone);
    const { id } = await bed.create('not-yet', { n: 1 }, asUser(ada));
    expect(await early.next(1)).toEqual([`create ${id}`]);
    const [row] = await bed.database.query<{ xid: string }>(
      'SELECT pg_current_xact_id()::text AS xid',
    );
    await eraseLogBefore(bed.database, testProject.number, String(Number(row?.xid) + 1));
    expect(await early.read()).toMatchObject(gone);
    await set('not-yet', { history: false });
    expect(await bed.call('GET', '/db/not-yet/_changes')).toMatchObject({ status: 409 });
  });
});
