import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { conditions, documents, filters, paths, scalar } from '../testing/arbitrary-filters.ts';
import type { Json } from './filter.ts';
import { holds } from './holds.ts';
import { parseFilter } from './parse.ts';
import { forCaller, parseRuleFilter, usesCaller } from './rule-filter.ts';

const ada = '018f0000-0000-7000-8000-0000000000a1';
const caller = { userId: ada, role: 'staff' };

describe('the filter of a rule', () => {
  it.each([
    [{}, 'needs a condition'],
    [{ $and: [{}] }, 'needs a condition'],
    [{ updatedAt: { $gt: '2026-01-01' } }, '"updatedAt" can not stand in a rule'],
    [{ createdAt: { $exists: true } }, '"createdAt" takes $gt, $gte, $lt, $lte and equality'],
    [{ ownerId: { $gt: 'a' } }, '"ownerId" takes $eq, $ne, $in and $nin'],
    [{ id: { $startsWith: 'a' } }, '"id" takes $eq, $ne, $in and $nin'],
    [{ a: '$caller.name' }, 'a rule knows $caller.id and $caller.role'],
    [{ a: '$caller' }, 'a rule knows $caller.id and $caller.role'],
    [{ a: { $eq: ['$caller.id'] } }, 'each as an operand by itself'],
    [{ a: { $in: [{ b: '$caller.id' }] } }, 'each as an operand by itself'],
    [{ a: { $gt: '$caller.id' } }, 'take $eq, $ne, $in, $nin and $all alone'],
    [{ a: { $contains: '$caller.id' } }, 'take $eq, $ne, $in, $nin and $all alone'],
    [{ a: { $contains: 'x', $options: 'i' } }, 'does not ignore case'],
    [{ $nor: [{ a: { $not: { $lt: '$caller.role' } } }] }, '$nin and $all alone'],
    [{ createdAt: '$caller.id' }, 'needs a date'],
    [{ a: { $foo: 1 } }, 'is not an operator'],
    [[], 'has to be an object'],
    ['x', 'has to be an object'],
  ])('is refused: %j', (where, message) => {
    expect(() => parseRuleFilter(where)).toThrow(message);
  });

  it('has something of the caller in place of its operands, for each caller anew', () => {
    const where = { $or: [{ who: '$caller.id' }, { role: { $nin: ['$caller.role', 'x'] } }] };
    const filter = parseRuleFilter(where);
    const like = (text: unknown) =>
      parseFilter(
        JSON.parse(
          JSON.stringify(text).replace('$caller.id', ada).replace('$caller.role', 'staff'),
        ),
      );
    expect(usesCaller(filter)).toBe(true);
    expect(forCaller(filter, caller)).toEqual(like(where));
    expect(forCaller(filter, { userId: 'b', role: 'boss' })).not.toEqual(like(where));
    expect(parseRuleFilter(where)).toEqual(filter);
  });

  it('is the same for all where it does not ask who calls', () => {
    const filter = parseRuleFilter({
      published: true,
      createdAt: { $gt: '2026-01-01' },
      ownerId: null,
    });
    expect(usesCaller(filter)).toBe(false);
    expect(forCaller(filter, caller)).toBe(filter);
  });
});

describe('a list in a record', () => {
  const passes = (where: object, document: Json) =>
    holds(forCaller(parseRuleFilter(where), caller), document);

  it.each<[object, Json]>([
    [{ a: 1 }, { a: [1] }],
    [{ a: { $in: [1, 2] } }, { a: [1] }],
    [{ a: { $gt: 0 } }, { a: [1] }],
    [{ a: { $startsWith: 'x' } }, { a: ['xy'] }],
    [{ a: null }, { a: [null] }],
    [{ a: { $ne: 1 } }, { a: [1, 2] }],
    [{ a: { $nin: [1] } }, { a: [1, 2] }],
    [{ a: { $not: { $gt: 0 } } }, { a: [1] }],
    [{ $nor: [{ a: 1, b: 1 }] }, { a: [1], b: 1 }],
    [{ $nor: [{ a: { $ne: 1 } }] }, { a: [1] }],
    [{ a: { $not: { $nin: [1] } } }, { a: [1] }],
    [{ 'a.b': 1 }, { a: [{ b: 1 }] }],
    [{ 'a.b': null }, { a: [{ b: null }] }],
    [{ 'a.b': null }, { a: [] }],
    [{ 'a.b': { $in: [null] } }, { a: [{}] }],
    [{ 'a.b': { $ne: null } }, { a: [] }],
    [{ 'a.b': { $ne: null } }, { a: [{ b: 1 }] }],
    [{ 'a.b': { $nin: [null, 2] } }, { a: [{ b: 1 }] }],
    [{ 'a.b': { $exists: true } }, { a: [{ b: 1 }] }],
    [{ 'a.0': 1 }, { a: [1] }],
    [{ a: { $in: ['$caller.id', 'x'] } }, { a: ['x'] }],
  ])('%j does not admit %j', (where, document) => {
    expect(passes(where, document)).toBe(false);
  });

  it.each<[object, Json]>([
    [{ a: { $all: [1] } }, { a: [1, 2] }],
    [{ a: '$caller.id' }, { a: ['x', ada] }],
    [{ 'a.who': '$caller.id' }, { a: [{ who: ada }] }],
    [{ a: { $in: ['$caller.role', 'x'] } }, { a: ['staff'] }],
    [{ a: { $in: ['$caller.id', 'x'] } }, { a: 'x' }],
    [{ a: { $eq: [1, 2] } }, { a: [1, 2] }],
    [{ a: { $ne: 1 } }, { a: [2] }],
    [{ a: { $not: { $all: [1] } } }, { a: [2] }],
    [{ a: { $size: 2 } }, { a: [1, 2] }],
    [{ a: { $exists: true } }, { a: [] }],
  ])('%j admits %j', (where, document) => {
    expect(passes(where, document)).toBe(true);
  });

  /** A list as a value that is like no other. */
  const withoutLists = (value: Json): Json => {
    if (Array.isArray(value)) return { list: true };
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withoutLists(one)]));
  };

  it('is admitted where the rule read plainly would admit it, and changes nothing for other values', () => {
    const asked = filters(conditions(paths, scalar, { sizes: false })).filter(
      (where) => !/"\$(options|all)"/.test(JSON.stringify(where)),
    );
    let admitted = 0;
    fc.assert(
      fc.property(documents(true), asked, (document, where) => {
        const plain = holds(parseFilter(where), withoutLists(document));
        const isAdmitted = passes(where, document);
        if (isAdmitted) expect(plain).toBe(true);
        admitted += Number(isAdmitted);
        expect(passes(where, withoutLists(document))).toBe(plain);
      }),
      { numRuns: 5000 },
    );
    expect(admitted).toBeGreaterThan(500);
  });
});
