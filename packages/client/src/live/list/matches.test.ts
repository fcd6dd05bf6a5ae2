import { expect, it } from '@jest/globals';
import { matches } from './matches.ts';
import { orderBy } from './order.ts';

const record = {
  id: '018f0000-0000-7000-8000-0000000000aa',
  createdAt: '2026-01-31T09:30:00.000Z',
  title: 'Straße',
  n: 5,
  tags: ['a', 'b'],
  lines: [{ n: 1 }, { n: 3 }],
  at: { x: 1, y: null },
};

it.each<[object, boolean | undefined]>([
  [{}, true],
  [{ n: 5, title: 'Straße' }, true],
  [{ n: '5' }, false],
  [{ n: { $gt: 4, $lte: 5 } }, true],
  [{ n: { $gt: '4' } }, false],
  [{ tags: 'a' }, true],
  [{ tags: { $all: ['a', 'b'] } }, true],
  [{ tags: { $all: [] } }, false],
  [{ tags: { $size: 2 } }, true],
  [{ tags: { $ne: 'a' } }, false],
  [{ tags: { $nin: ['c'] } }, true],
  [{ 'tags.1': 'b' }, true],
  [{ 'lines.n': { $in: [3, 4] } }, true],
  [{ 'lines.n': { $not: { $gt: 2 } } }, false],
  [{ 'at.y': null }, true],
  [{ none: null }, true],
  [{ none: { $exists: false } }, true],
  [{ at: { y: null, x: 1 } }, true],
  [{ $or: [{ n: 1 }, { n: 5 }] }, true],
  [{ $nor: [{ n: 5 }] }, false],
  [{ $and: [{ n: 5 }, { n: { $lt: 5 } }] }, false],
  [{ createdAt: { $gte: '2026-01-31', $lt: '2026-02-01T00:00:00+01:00' } }, true],
  [{ title: { $startsWith: 'Str' } }, true],
  [{ title: { $contains: 'STRASSE', $options: 'i' } }, undefined],
  [{ n: { $near: 5 } }, undefined],
])('%j: %s', (where, expected) => {
  expect(matches(where as Record<string, unknown>, record)).toBe(expected);
});

it('has the order of lists: kinds of values, strings by code point, ties by id', () => {
  const values = [[1], null, '', 'B', 'a', '\uFFFF', '\u{1F600}', -1, 10, false, true];
  const items = values.map((v, n) => ({ id: `${n}`.padStart(2, '0'), v }));
  const twin = { id: '99', v: 'a' };
  const shuffled = [...items, twin].sort((a, b) => (a.id < b.id ? 1 : -1));
  const up = [...shuffled].sort(orderBy('v'));
  expect(up).toEqual(items.toSpliced(5, 0, twin));
  expect([...shuffled].sort(orderBy('-v'))).toEqual(up.toReversed());
  expect([...shuffled].sort(orderBy())).toEqual(shuffled);
});
