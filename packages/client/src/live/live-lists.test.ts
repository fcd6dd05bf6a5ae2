import { until } from '@backlot/testing';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createClient } from '../index.ts';
import { startLiveServer, toToken } from '../testing/live-server.ts';

interface Card {
  title: string;
  column?: string;
}

let server: Awaited<ReturnType<typeof startLiveServer>>;
let token: string | null;
const stops: (() => void)[] = [];
beforeEach(async () => {
  server = await startLiveServer();
  token = null;
});
afterEach(async () => {
  for (const stop of stops.splice(0)) stop();
  await server.stop();
});

const newClient = () =>
  createClient<{ cards: Card; notes: Card }>(server.url, {
    retries: 0,
    storage: {
      get: () => token,
      set(given) {
        token = given;
      },
    },
  });
type Client = ReturnType<typeof newClient>;
type Options = Parameters<ReturnType<Client['db']>['live']>[0];

/** A live list, and what it showed last. */
const watch = (client: Client, options: Options = {}, name: 'cards' | 'notes' = 'cards') => {
  const told: { titles: string[]; pending: number; hasMore: boolean }[] = [];
  const errors: Error[] = [];
  const stop = client
    .db(name)
    .live({ onError: (error) => errors.push(error), ...options }, (items, state) =>
      told.push({
        titles: items.map(({ title }) => title),
        pending: state.pending.size,
        hasMore: state.hasMore,
      }),
    );
  stops.push(stop);
  const shows = (...titles: string[]) =>
    until(() => JSON.stringify(told.at(-1)?.titles) === JSON.stringify(titles) || undefined, {
      what: `${titles}; it is ${told.at(-1)?.titles}`,
    });
  return { told, errors, stop, shows };
};
const count = (call: string) => server.calls.filter((made) => made === call).length;

it('a list is read once and then stays true, by one stream for all lists of a page', async () => {
  const a = server.create('cards', { title: 'a', column: 'todo' });
  const client = newClient();
  const all = watch(client, { sort: 'title' });
  const todo = watch(client, { where: { column: 'todo' }, sort: '-title' });
  const notes = watch(client, {}, 'notes');
  await Promise.all([all.shows('a'), todo.shows('a'), notes.shows()]);
  server.create('cards', { title: 'c', column: 'done' });
  const b = server.create('cards', { title: 'b', column: 'todo' });
  server.create('notes', { title: 'n' });
  await Promise.all([all.shows('a', 'b', 'c'), todo.shows('b', 'a'), notes.shows('n')]);
  server.update('cards', a.id, { column: 'done', title: 'z' });
  server.remove('cards', b.id);
  await Promise.all([all.shows('c', 'z'), todo.shows()]);
  expect([server.streams.size, count('GET /events')]).toEqual([1, 1]);
  expect([count('GET /db/cards'), count('GET /db/notes')]).toEqual([2, 1]);
  all.stop();
  todo.stop();
  notes.stop();
  await until(() => server.streams.size === 0 || undefined, { what: 'no stream' });
});

it('what this client writes shows at once, once, and goes away again where it is refused', async () => {
  const a = server.create('cards', { title: 'a', column: 'todo' });
  const client = newClient();
  const cards = client.db('cards');
  const todo = watch(client, { where: { column: 'todo' }, sort: 'title' });
  await todo.shows('a');

  let answer = () => {};
  server.hold((call) =>
    call.startsWith('GET')
      ? undefined
      : new Promise<void>((resolve) => {
          answer = resolve;
        }),
  );
  const created = cards.create({ title: 'b', column: 'todo' });
  await todo.shows('a', 'b');
  expect(todo.told.at(-1)?.pending).toBe(1);
  await until(() => count('POST /db/cards') === 1 || undefined, { what: 'the call' });
  answer();
  await created;
  await until(() => todo.told.at(-1)?.pending === 0 || undefined, { what: 'an answer' });
  expect(todo.told.every(({ titles }) => titles.length < 3)).toBe(true);

  server.refuse((call) => (call.startsWith('GET') ? undefined : 403));
  const refused = cards.update(a.id, { data: { column: 'done' } });
  await todo.shows('b');
  await until(() => count(`PATCH /db/cards/${a.id}`) === 1 || undefined, { what: 'the call' });
  answer();
  await expect(refused).rejects.toMatchObject({ status: 403 });
  await todo.shows('a', 'b');
  const kept = cards.delete(a.id);
  await todo.shows('b');
  await until(() => count(`DELETE /db/cards/${a.id}`) === 1 || undefined, { what: 'the call' });
  answer();
  await expect(kept).rejects.toMatchObject({ status: 403 });
  await todo.shows('a', 'b');
});

it('a limit keeps the beginning of a list, and what moves up is read', async () => {
  const [, second] = ['a', 'b', 'c', 'd'].map((title) => server.create('cards', { title }));
  const list = watch(newClient(), { sort: 'title', limit: 3 });
  await list.shows('a', 'b', 'c');
  expect(list.told.at(-1)?.hasMore).toBe(true);
  server.create('cards', { title: 'aa' });
  await list.shows('a', 'aa', 'b');
  server.remove('cards', second?.id ?? '');
  await list.shows('a', 'aa', 'c');
});

it('a stream that is cut comes back where it was; what it can not tell any more is read anew', async () => {
  server.create('cards', { title: 'a' });
  const list = watch(newClient(), { sort: 'title' });
  await list.shows('a');
  server.cut();
  server.create('cards', { title: 'b' });
  await list.shows('a', 'b');
  expect(count('GET /db/cards')).toBe(1);
  server.cut();
  server.create('cards', { title: 'c' });
  server.forget();
  await list.shows('a', 'b', 'c');
  expect([count('GET /db/cards'), list.errors]).toEqual([2, []]);
});

it('a server that is away is waited for, silently', async () => {
  server.create('cards', { title: 'a' });
  server.refuse(() => 503);
  const list = watch(newClient(), { sort: 'title' });
  await until(() => count('GET /db/cards') > 1 || undefined, { what: 'two tries' });
  server.refuse(undefined);
  await list.shows('a');
  server.create('cards', { title: 'b' });
  await list.shows('a', 'b');
  expect(list.errors).toEqual([]);
});

it('a list that is refused says so alone, and the others go on', async () => {
  server.create('cards', { title: 'a' });
  const client = newClient();
  server.refuse((call) => {
    if (call.includes('/notes')) return 403;
    const isFirst = count('GET /events') === 1;
    return call === 'GET /events' && isFirst ? 403 : undefined;
  });
  const notes = watch(client, {}, 'notes');
  const cards = watch(client);
  await cards.shows('a');
  server.create('cards', { title: 'b' });
  await cards.shows('b', 'a');
  await notes.shows();
  expect([notes.errors[0], cards.errors]).toMatchObject([{ status: 403 }, []]);
});

it('is read anew when somebody signs in or out', async () => {
  server.create('cards', { title: 'a' }, 'ada');
  server.create('cards', { title: 'b' }, 'bob');
  const client = newClient();
  token = toToken('ada');
  const list = watch(client, { where: { title: 'a' } });
  await list.shows('a');
  server.refuse((call) => (call === 'GET /db/cards' ? 401 : undefined));
  await client.auth.signOut();
  await list.shows();
  expect(list.errors).toMatchObject([{ status: 401 }]);
});

it('a subscription is told of each change, and first of all to read what there is', async () => {
  const a = server.create('cards', { title: 'a', column: 'todo' });
  const told: object[] = [];
  const cards = newClient().db('cards');
  stops.push(cards.subscribe({ where: { column: 'todo' } }, (change) => told.push(change)));
  await until(() => told.length === 1 || undefined, { what: 'the beginning' });
  server.update('cards', a.id, { title: 'b' });
  server.create('cards', { title: 'c', column: 'done' });
  server.update('cards', a.id, { column: 'done' });
  await until(() => told.length === 3 || undefined, { what: 'two changes' });
  expect(told).toMatchObject([
    { type: 'reset' },
    { type: 'update', id: a.id, record: { title: 'b' } },
    { type: 'leave', id: a.id },
  ]);
});

it('says what it takes', async () => {
  const errors: unknown[] = [];
  const { live } = newClient().db('cards') as unknown as { live: (...given: unknown[]) => void };
  live({ onError: (error: unknown) => errors.push(error) });
  await until(() => errors.length === 1 || undefined, { what: 'an error' });
  expect(errors[0]).toMatchObject({ message: expect.stringContaining('options and a function') });
});
