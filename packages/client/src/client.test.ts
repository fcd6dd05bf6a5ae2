import { expect, it } from '@jest/globals';
import { BacklotError, createClient } from './index.ts';
import { base, clientWith, json } from './testing/recorded-client.ts';

const id = '018f0000-0000-7000-8000-0000000000aa';

it('looks as another caller with every call, so that nothing is written as the owner', async () => {
  const { client, sent } = clientWith([json({ items: [] })], { viewAs: 'role:staff', token: 't' });
  await client.db('todos').list();
  await client.db('todos').create({ a: 1 });
  await client.storage.upload(new Blob(['x']), { onProgress: () => {} });
  expect(sent.map(({ headers }) => headers['Backlot-View-As'])).toEqual(
    Array(3).fill('role:staff'),
  );
  const usual = clientWith([json({ items: [] })], { token: 't' });
  await usual.client.db('todos').list();
  expect(usual.sent[0]?.headers).not.toHaveProperty('Backlot-View-As');
});

it('turns a failure into one error with what the server says', async () => {
  const failure = { error: 'No.', code: 'invalid_where', hint: 'Say $in.', requestId: 'r1' };
  const { client } = clientWith([json(failure, 400)]);
  const error = await client
    .db('todos')
    .list()
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(BacklotError);
  const { error: message, ...rest } = failure;
  expect(error).toMatchObject({ message, status: 400, ...rest });
});

it('sends options that it does not know, for the server to name them', async () => {
  const { client, sent } = clientWith([json({})]);
  const guess = { filter: 'x', where: { n: 1 }, mine: true, sort: { n: 1 }, fields: ['n', 'm'] };
  await client.db('todos').list(guess as object);
  await client.db('todos').count(guess as object);
  const query = { filter: 'x', where: '{"n":1}', mine: '1', sort: '{"n":1}', fields: 'n,m' };
  expect(sent.map((call) => call.query)).toEqual([query, query]);
});

it('shows what the server says of ignored input, once', async () => {
  const warned: string[] = [];
  const { warn } = console;
  console.warn = (text: string) => void warned.push(text);
  const hinted = json({ items: [] }, 200, { 'backlot-hint': 'Operators begin with "$".' });
  const { client } = clientWith([hinted, hinted, json({ items: [] })]);
  for (let n = 0; n < 3; n++) await client.db('todos').list();
  console.warn = warn;
  expect(warned).toEqual(['Backlot: Operators begin with "$".']);
});

it('says what its base address has to be', () => {
  for (const wrong of [undefined, 'demo', { baseUrl: base }])
    expect(() => createClient(wrong as string)).toThrow('"<host>/api/runtime/<project id>"');
});

it('tells the end of an upload where nothing tells how it goes', async () => {
  const { client } = clientWith([json({ id })]);
  const told: number[][] = [];
  const onProgress = (...bytes: number[]) => void told.push(bytes);
  expect(await client.storage.upload(new Blob(['hello']), { onProgress })).toEqual({ id });
  expect(told).toEqual([[5, 5]]);
});

it('repeats what is safe, with the same key, and nothing else', async () => {
  const busy = json({ error: 'Busy.', code: 'overloaded' }, 503, { 'Retry-After': '0' });
  const { client, sent } = clientWith([busy, busy, json({ id })]);
  expect(await client.db('todos').create({})).toEqual({ id });
  expect(sent).toHaveLength(3);
  expect(new Set(sent.map(({ headers }) => headers['Idempotency-Key'])).size).toBe(1);

  const patch = clientWith([busy, json({ id })]);
  await expect(patch.client.db('todos').update(id, { inc: { n: 1 } })).rejects.toMatchObject({
    code: 'overloaded',
  });
  const refused = clientWith([json({ code: 'not_found' }, 404), json({ id })]);
  await expect(refused.client.db('todos').get(id)).rejects.toMatchObject({ status: 404 });
  const later = clientWith([json({}, 429, { 'Retry-After': '600' }), json({ id })]);
  await expect(later.client.db('todos').get(id)).rejects.toMatchObject({ retryAfterSeconds: 600 });
  const away = clientWith([], { retries: 1 });
  await expect(away.client.db('todos').get(id)).rejects.toMatchObject({ code: 'network' });
  expect([patch, refused, later, away].map(({ sent: calls }) => calls.length)).toEqual([
    1, 1, 1, 2,
  ]);
});

it('sends the data of a new record last, where the server need not keep it', async () => {
  const { client, sent } = clientWith([json({ id })]);
  await client.db('todos').create({ title: 'x' }, { groupId: id });
  expect(Object.keys(sent[0]?.body ?? {})).toEqual(['groupId', 'data']);
});
