import { randomUUID } from 'node:crypto';
import { recordRoutes } from '@backlot/contract';
import { type Identity, identityHeader } from '@backlot/identity';
import {
  anonymous,
  asKey,
  asOwner,
  asUser,
  type ReceivedEvents,
  receiveEvents,
  refusesStrangers,
  serveForTest,
  signed,
  testProject,
  until,
} from '@backlot/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const collectionsPath = `/platform/projects/${testProject.id}/collections`;

describe('openEvents', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  const opened: ReceivedEvents[] = [];
  afterEach(() => {
    for (const stream of opened.splice(0)) stream.close();
  });

  const open = async (
    query: string,
    identity: Identity = anonymous(),
    { lastEventId = '', url = bed.http.url } = {},
  ) => {
    const stream = await receiveEvents(`${url}/events?${query}`, {
      [identityHeader]: signed(identity, recordRoutes.openEvents),
      ...(lastEventId && { 'last-event-id': lastEventId }),
    });
    opened.push(stream);
    if (stream.status === 200) await stream.take(1, 'ready');
    return stream;
  };
  refusesStrangers(
    recordRoutes.openEvents,
    () => bed.http,
    () => ({ path: '/events?collections=todos' }),
  );

  const set = (name: string, body: object) =>
    bed.call('PUT', `${collectionsPath}/${name}`, { identity: asOwner(), body });
  const told = async (stream: ReceivedEvents, count: number) =>
    (await stream.take(count)).map(({ data }) => `${data.type} ${data.collection} ${data.id}`);

  it('tells of changes in several collections as they happen, each by its filter', async () => {
    await set('todos', { access: 'shared' });
    const where = encodeURIComponent('{"done":false}');
    const stream = await open(`collections=todos,notes&where.todos=${where}`);
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    expect(stream.headers.get('x-accel-buffering')).toBe('no');
    const note = await bed.create('notes', { n: 1 });
    const done = await bed.create('todos', { done: true });
    const todo = await bed.create('todos', { done: false });
    const [change] = await stream.take(1);
    expect(change?.data).toEqual({
      collection: 'notes',
      seq: expect.any(Number),
      type: 'create',
      id: note.id,
      record: note,
      changedAt: expect.any(String),
    });
    expect(await told(stream, 1)).toEqual([`create todos ${todo.id}`]);
    for (const { id } of [done, todo])
      await bed.call('PATCH', `/db/todos/${id}`, { body: { data: { done: true } } });
    await bed.call('DELETE', `/db/notes/${note.id}`);
    expect(await told(stream, 2)).toEqual([`leave todos ${todo.id}`, `delete notes ${note.id}`]);
  });

  it('goes on behind the last event, without loss or repetition, and says where it can not', async () => {
    const before = await open('collections=todos', asUser(ada));
    const first = await bed.create('todos', { n: 1 });
    await told(before, 1);
    const lastEventId = before.lastEventId();
    before.close();
    const missed = await bed.create('todos', { n: 2 });
    const after = await open('collections=todos', asUser(ada), { lastEventId });
    const later = await bed.create('todos', { n: 3 });
    expect(await told(after, 2)).toEqual([`create todos ${missed.id}`, `create todos ${later.id}`]);
    expect(after.text()).not.toContain(first.id);
    for (const [query, identity] of [
      ['collections=todos', asUser(bob)],
      ['collections=todos,notes', asUser(ada)],
    ] as const) {
      const other = await open(query, identity, { lastEventId });
      expect((await other.take(1, 'reset'))[0]?.data).toEqual({ reason: 'access' });
    }
    bed.clock.pass(25 * 60 * 60_000);
    const late = await receiveEvents(`${bed.http.url}/events?collections=todos`, {
      [identityHeader]: signed(asUser(ada), recordRoutes.openEvents, bed.clock.now()),
      'last-event-id': lastEventId,
    });
    opened.push(late);
    expect((await late.take(1, 'reset'))[0]?.data).toEqual({ reason: 'expired' });
    bed.clock.pass(-25 * 60 * 60_000);
    expect((await open('collections=todos', asKey(), { lastEventId: 'made-up' })).status).toBe(400);
  });

  it('begins anew under other rules, and ends where they leave nothing to see', async () => {
    await set('board', { access: 'shared' });
    const [visitor, user] = await Promise.all([
      open('collections=board'),
      open('collections=board', asUser(ada)),
    ]);
    await bed.create('board', { n: 1 });
    await Promise.all([told(visitor, 1), told(user, 1)]);
    await set('board', { access: 'private' });
    expect((await user.take(1, 'reset'))[0]?.data).toEqual({ reason: 'access' });
    expect((await visitor.take(1, 'end'))[0]?.data).toEqual({ reason: 'access' });
    await until(() => visitor.isClosed());
    const own = await bed.create('board', { n: 2 }, asUser(ada));
    await bed.create('board', { n: 3 }, asUser(bob));
    expect(await told(user, 1)).toEqual([`create board ${own.id}`]);
    expect(visitor.text()).not.toContain(own.id);
    expect((await open('collections=board')).status).toBe(401);
  });

  it('begins anew where a collection goes, and where one comes by its name with records in it', async () => {
    for (const name of ['cards', 'drafts']) await bed.create(name, { n: 1 });
    const [cards, pages] = await Promise.all([
      open('collections=cards'),
      open('collections=pages'),
    ]);
    const call = (method: string, path: string, body?: object) =>
      bed.call(method, `${collectionsPath}/${path}`, {
        identity: asOwner(),
        ...(body && { body }),
      });
    await call('DELETE', 'cards');
    await cards.take(1, 'reset');
    expect((await call('POST', 'cards/restore', {})).status).toBe(200);
    await cards.take(1, 'reset');
    const made = await bed.create('cards', { n: 2 });
    expect(await told(cards, 1)).toEqual([`create cards ${made.id}`]);
    expect((await call('PATCH', 'drafts', { name: 'pages' })).status).toBe(200);
    await pages.take(1, 'reset');
    await call('DELETE', 'pages');
    await pages.take(1, 'reset');
    const page = await bed.create('pages', { n: 3 });
    expect(await told(pages, 1)).toEqual([`create pages ${page.id}`]);
  });

  it('a slow reader is told to begin anew, and hears of what comes then', async () => {
    await set('large', { access: 'shared' });
    const slow = await fetch(`${bed.http.url}/events?collections=large`, {
      headers: { [identityHeader]: signed(anonymous(), recordRoutes.openEvents) },
    });
    const quick = await open('collections=large');
    const text = 'x'.repeat(400_000);
    for (let n = 0; n < 30; n++) await bed.create('large', { n, text });
    // Where the machine is busy it is a slow reader too.
    await until(() => /"n": ?29\b|event: reset/.test(quick.text()));
    let all = '';
    for await (const chunk of slow.body ?? []) {
      all += Buffer.from(chunk).toString();
      if (!all.includes('event: reset')) continue;
      if (all.includes('"n":99') || all.includes('"n": 99')) break;
      if (!all.includes('"small"')) await bed.create('large', { n: 99, small: true });
    }
    expect(all).toContain('"reason":"slow"');
    expect(all.split('event: change').length).toBeLessThan(31);
  });

  it('of one address, whatever accounts it has, there are so many in a project, and no more', async () => {
    const users = Array.from({ length: 25 }, () => randomUUID());
    const ip = '203.0.113.7';
    for (const userId of users)
      for (let n = 0; n < 10; n++) await open('collections=todos', { ...asUser(userId), ip });
    const one = { ...asUser(randomUUID()), ip };
    expect((await open('collections=todos', one)).status).toBe(429);
    expect((await open('collections=todos', { ...one, ip: '203.0.113.8' })).status).toBe(200);
  });

  it('hears of writes in another process of the service', async () => {
    const other = bed.another();
    await other.start();
    const http = await serveForTest(other.app);
    const stream = await open('collections=todos', anonymous(), { url: http.url });
    const { id } = await bed.create('todos', { n: 4 });
    expect(await told(stream, 1)).toEqual([`create todos ${id}`]);
    other.drain();
    expect((await stream.take(1, 'end'))[0]?.data).toEqual({ reason: 'restart' });
    await until(() => stream.isClosed());
    await http.stop();
    await other.stop();
  });

  it('refuses what it does not know, and more streams than one may have', async () => {
    for (const query of [
      '',
      'collections=',
      'collections=a-b,1',
      `collections=${Array.from({ length: 21 }, (_, n) => `c${n}`).join()}`,
      'collections=todos&where={}',
      'collections=todos&where.notes={}',
      'collections=todos&where.todos=x',
      'collections=todos&wher=1',
    ]) {
      const answer = await open(query);
      expect([query, answer.status]).toEqual([query, 400]);
    }
    expect((await open('collections=todos&mine.todos=1')).status).toBe(401);
    for (let n = 0; n < 10; n++) await open('collections=todos', asUser(bob));
    expect((await open('collections=todos', asUser(bob))).status).toBe(429);
    opened.pop();
    opened.pop()?.close();
    await until(async () => (await open('collections=todos', asUser(bob))).status === 200);
  });
});
