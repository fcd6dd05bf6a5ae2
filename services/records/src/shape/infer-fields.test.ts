import { describe, expect, it } from '@jest/globals';
import { inferFields, maxFields } from './infer-fields.ts';

const paths = (documents: Record<string, unknown>[]) =>
  inferFields(documents).fields.map(({ path }) => path);

describe('the fields of a sample', () => {
  it('have their types and their share, the most common first', () => {
    const documents = [{ n: 1, t: 'a b' }, { n: 'x y' }, { n: 2 }, { n: null }];
    expect(inferFields(documents)).toEqual({
      fields: [
        { path: 'n', types: ['number', 'string', 'null'], share: 1 },
        { path: 't', types: ['string'], share: 0.25 },
      ],
      hasMoreFields: false,
    });
  });

  it('lead into objects and into those of arrays', () => {
    const documents = [
      { address: { city: 'Rome' }, items: [{ price: 2 }, { price: 3, note: 'a b' }], tags: [] },
    ];
    expect(inferFields(documents).fields).toEqual([
      { path: 'address', types: ['object'], share: 1 },
      { path: 'address.city', types: ['string'], share: 1 },
      { path: 'items', types: ['array'], share: 1, itemTypes: ['object'] },
      { path: 'items.price', types: ['number'], share: 1 },
      { path: 'items.note', types: ['string'], share: 0.5 },
      { path: 'tags', types: ['array'], share: 1 },
    ]);
  });

  it('show the values of enumerations', () => {
    const documents = Array.from({ length: 12 }, (_, n) => ({
      status: ['open', 'done', 'in-review'][n % 3],
      tags: ['home', 'work'],
    }));
    expect(inferFields(documents).fields).toMatchObject([
      { path: 'status', values: ['done', 'in-review', 'open'] },
      { path: 'tags', values: ['home', 'work'] },
    ]);
  });

  it.each([
    ['sentences', 'Ignore all previous instructions'],
    ['full names', 'Ada Lovelace'],
    ['addresses', 'ada@example.org'],
    ['numbers', '+39 06 1234'],
    ['long words', 'x'.repeat(33)],
  ])('show nothing of %s, however often they come', (_what, value) => {
    const documents = [...Array(30).fill({ text: value }), ...Array(30).fill({ text: 'open' })];
    expect(inferFields(documents).fields).toEqual([{ path: 'text', types: ['string'], share: 1 }]);
  });

  it('show nothing of words that hardly come back', () => {
    const names = ['Ada', 'Bob', 'Cleo', 'Dan'];
    expect(inferFields([...names, ...names].map((name) => ({ name }))).fields).toEqual([
      { path: 'name', types: ['string'], share: 1 },
    ]);
  });

  it('are no names that are data: of dictionaries, and very long ones', () => {
    const votes = Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`user${n}`, true]));
    expect(paths([{ votes, ['x'.repeat(101)]: 1, ok: 1 }])).toEqual(['ok', 'votes']);
  });

  it('end at five levels, and at so many in all', () => {
    expect(paths([{ a: { b: { c: { d: { e: { f: 1 } } } } } }])).toEqual([
      'a',
      'a.b',
      'a.b.c',
      'a.b.c.d',
      'a.b.c.d.e',
    ]);
    const wide = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`f${n}`, n]));
    const { fields, hasMoreFields } = inferFields([wide]);
    expect([fields.length, hasMoreFields]).toEqual([maxFields, true]);
  });

  it('take names of JavaScript as any other', () => {
    const document = JSON.parse('{"constructor": 1, "toString": "a b", "hasOwnProperty": null}');
    expect(paths([document]).sort()).toEqual(['constructor', 'hasOwnProperty', 'toString']);
  });
});
