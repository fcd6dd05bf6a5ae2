import { expect, it } from '@jest/globals';
import { clientWith, json } from './testing/recorded-client.ts';

const id = '018f0000-0000-7000-8000-0000000000aa';

it('refuses by name what JSON would drop or change, before anything is sent', async () => {
  const { client, sent } = clientWith([json({}, 201)]);
  const todos = client.db('todos');
  const file = new File(['x'], 'x.txt');
  const circle: Record<string, unknown> = {};
  circle.self = { circle };
  const cases: [Record<string, unknown>, string][] = [
    [{ file }, '"data.file" (File) is no JSON: upload it by client.storage.upload(file)'],
    [{ a: [{ photo: new Blob() }] }, '"data.a.0.photo" (Blob) is no JSON: upload it by'],
    [{ tags: new Set(['a']) }, '"data.tags" (Set) is no JSON: send a list: [...set]'],
    [{ m: new Map() }, '"data.m" (Map) is no JSON: send Object.fromEntries(map)'],
    [{ later: Promise.resolve() }, '"data.later" (Promise) is no JSON: await it first'],
    [{ n: 1n }, '"data.n" (BigInt) is no JSON: send String(value)'],
    [{ n: Number.NaN }, '"data.n" (Number) is no JSON'],
    [{ n: Number.POSITIVE_INFINITY }, '"data.n" (Number) is no JSON'],
    [{ at: new Date('never') }, '"data.at" (Date) is no JSON: the date is invalid'],
    [{ f: () => {} }, '"data.f" (Function) is no JSON'],
    [{ f: async () => {} }, '"data.f" (AsyncFunction) is no JSON'],
    [{ s: Symbol('s') }, '"data.s" (Symbol) is no JSON'],
    [{ bytes: new Uint8Array(2) }, '"data.bytes" (Uint8Array) is no JSON'],
    [{ like: /x/ }, '"data.like" (RegExp) is no JSON'],
    [{ failed: new Error('x') }, '"data.failed" (Error) is no JSON'],
    [{ event: new Event('click') }, '"data.event" (Event) is no JSON'],
    [{ form: new FormData() }, '"data.form" (FormData) is no JSON'],
    [circle, '"data.self.circle" holds itself'],
  ];
  for (const [data, message] of cases)
    for (const way of [todos.create(data), todos.update(id, { data }), todos.replace(id, data)])
      await expect(way).rejects.toMatchObject({
        name: 'BacklotError',
        code: 'not_json',
        message: expect.stringContaining(message),
      });
  const updateProfile = client.auth.updateMe({ profile: { photo: file } });
  await expect(updateProfile).rejects.toThrow('"profile.photo" (File) is no JSON');
  const where = { tags: new Set(['a']) } as never;
  await expect(todos.list({ where })).rejects.toThrow('"where.tags" (Set) is no JSON');
  expect(sent).toEqual([]);
});

it('sends what JSON writes by itself', async () => {
  const { client, sent } = clientWith([json({}, 201)]);
  const at = new Date(0);
  const shared = { a: 1 };
  class Point {
    x = 1;
  }
  const url = new URL('https://example.org/');
  const data = { at, url, left: undefined, list: [shared, shared], point: new Point(), none: null };
  await client.db('todos').create(data);
  expect(sent[0]?.body).toEqual({
    data: {
      at: '1970-01-01T00:00:00.000Z',
      url: 'https://example.org/',
      list: [shared, shared],
      point: { x: 1 },
      none: null,
    },
  });
});
