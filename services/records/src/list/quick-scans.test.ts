import { describe, expect, it } from '@jest/globals';
import type { Collection } from '../collections/collections.ts';
import { splitFilter } from '../query/selection.ts';
import { parseSort } from '../query/sort.ts';
import { parseWhere } from '../where/parse.ts';
import { createQuickScans } from './quick-scans.ts';

const scan = (where: object, { id = 1, sort = 'title' } = {}) =>
  ({
    collection: { projectNumber: 1, id } as Collection,
    filter: splitFilter(parseWhere(JSON.stringify(where))),
    sort: parseSort(sort),
    offset: 0,
  }) as Parameters<ReturnType<typeof createQuickScans>['isQuick']>[0];

describe('quick scans', () => {
  it('are those that ask a collection for the same fields in the same way as quick ones', () => {
    const { isQuick, learn } = createQuickScans();
    const done = scan({ done: true, price: { $gt: 3 } });
    expect(isQuick(done)).toBe(false);
    learn(done, 12);
    expect(isQuick(scan({ done: false, price: { $gt: 5 } }))).toBe(true);
    expect(isQuick(scan({ done: true, price: { $lt: 3 } }))).toBe(true);
    const others = [
      scan({ done: true }),
      scan({ done: true, price: 3 }),
      scan({ done: { $in: [true, false] }, price: { $gt: 3 } }),
      scan({ done: true, price: { $not: { $gt: 3 } } }),
      scan({ $or: [{ done: true }, { price: { $gt: 3 } }] }),
      scan({ done: true, price: { $gt: 3 } }, { id: 2 }),
      scan({ done: true, price: { $gt: 3 } }, { sort: 'price' }),
    ];
    expect(others.some(isQuick)).toBe(false);
  });

  it('do not count as slow for one that waited, and do after some', () => {
    const { isQuick, learn } = createQuickScans();
    const done = scan({ done: true });
    learn(done, 2);
    for (let slow = 0; slow < 3; slow++) learn(done, 500);
    expect(isQuick(done)).toBe(true);
    for (let slow = 0; slow < 3; slow++) learn(done, 500);
    expect(isQuick(done)).toBe(false);
    let quick = 0;
    for (; !isQuick(done); quick++) learn(done, 2);
    expect(quick).toBeGreaterThan(4);
  });

  it('have a short filter', () => {
    const { isQuick, learn } = createQuickScans();
    const long = scan(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`field${i}`, 1])));
    learn(long, 1);
    expect(isQuick(long)).toBe(false);
  });
});
