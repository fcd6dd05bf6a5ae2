import { ApiError } from '@backlot/contract';
import { describe, expect, it } from '@jest/globals';
import { parseWhere } from './parse.ts';

const getRefusal = (where: unknown): string => {
  try {
    parseWhere(typeof where === 'string' ? where : JSON.stringify(where));
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_where') return error.message;
    throw error;
  }
  return 'accepted';
};

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
const nested = (depth: number): object => (depth === 0 ? { a: 1 } : { $and: [nested(depth - 1)] });

describe('where', () => {
  it.each([
    ['', 'not valid JSON'],
    ['{', 'not valid JSON'],
    ['null', 'has to be an object'],
    ['[]', 'has to be an object'],
    ['"a"', 'has to be an object'],
    ['{"a":1e400}', 'too large'],
    ['{"a":{"$gt":-1e400}}', 'too large'],
    ['{"a":{"$in":[1,1e400]}}', 'too large'],
    ['{"a":"\\u0000"}', 'NUL'],
    ['{"a":{"$in":["\\ud800"]}}', 'surrogate'],
    ['{"a":{"$contains":"\\u0000"}}', 'NUL'],
    ['{"a":{"b":{"c\\u0000":1}}}', 'NUL'],
    ['{"a\\u0000":1}', 'NUL'],
    ['{"\\udfff":1}', 'surrogate'],
  ])('refuses %s', (text, reason) => {
    expect(getRefusal(text)).toContain(reason);
  });

  it.each([
    [{ $where: '1' }, '"$where"'],
    [{ a: { $regex: 'x' } }, '"$regex"'],
    [{ a: { $elemMatch: {} } }, '"$elemMatch"'],
    [{ a: { $GT: 1 } }, '"$GT"'],
    [{ a: { toString: 1, $gt: 1 } }, 'mixes'],
    [{ a: { $hasOwnProperty: 1 } }, '"$hasOwnProperty"'],
    [{ $not: { a: 1 } }, '"$nor"'],
    [{ a: { $and: [] } }, '"$and"'],
    [{ 'a.$b': 1 }, '"a.$b"'],
    [{ a: [1] }, '$in'],
    [{ $and: [] }, '"$and"'],
    [{ $or: [] }, '"$or"'],
    [{ $nor: [] }, '"$nor"'],
    [{ $or: { a: 1 } }, '"$or"'],
    [{ $or: [1] }, '"$or"'],
    [{ a: { $gt: null } }, '"a": "$gt"'],
    [{ a: { $lte: null } }, '"a": "$lte"'],
    [{ a: { $lt: [1] } }, '"$lt"'],
    [{ a: { $gte: {} } }, '"$gte"'],
    [{ a: { $in: 'x' } }, '"$in"'],
    [{ a: { $nin: null } }, '"$nin"'],
    [{ a: { $all: 1 } }, '"$all"'],
    [{ a: { $size: -1 } }, '"$size"'],
    [{ a: { $size: 1.5 } }, '"$size"'],
    [{ a: { $size: '1' } }, '"$size"'],
    [{ a: { $exists: 1 } }, '"$exists"'],
    [{ a: { $contains: 1 } }, '"$contains"'],
    [{ a: { $startsWith: null } }, '"$startsWith"'],
    [{ a: { $endsWith: ['x'] } }, '"$endsWith"'],
    [{ a: { $contains: 'x', $options: 'g' } }, '"$options"'],
    [{ a: { $eq: 'x', $options: 'i' } }, '"$options"'],
    [{ a: { $options: 'i' } }, '"$options"'],
    [{ a: { $not: 1 } }, '"$not"'],
    [{ a: { $not: {} } }, '"$not"'],
    [{ a: { $not: { b: 1 } } }, '"$not"'],
    [{ a: { b: { $gt: 1 } } }, '"$gt"'],
    [{ createdAt: 'yesterday' }, 'ISO 8601'],
    [{ updatedAt: { $gte: 1700000000000 } }, 'ISO 8601'],
    [{ createdAt: { $in: ['2026-01-01', '2026-02-30'] } }, 'ISO 8601'],
    [{ id: { $gt: 5 } }, '"id"'],
  ])('refuses %j and names what is wrong', (where, named) => {
    expect(getRefusal(where)).toContain(named);
  });

  it.each(['$ilike', '$like', '$icontains', '$regex', '$search', '$elemMatch'])(
    'names the operators that there are where %s is sent',
    (operator) => {
      const message = getRefusal({ title: { [operator]: 'x' } });
      for (const known of ['$eq', '$in', '$gte', '$exists', '$contains', '$startsWith', '$options'])
        expect(message).toContain(known);
    },
  );

  it('keeps to its caps, and accepts what just fits', () => {
    const atLimit = (value: string) => `{"a":"${value}"}`;
    expect(getRefusal(atLimit('é'.repeat(4092)))).toBe('accepted');
    expect(getRefusal(atLimit('é'.repeat(4093)))).toContain('8192 bytes');
    expect(getRefusal(nested(5))).toBe('accepted');
    expect(getRefusal(nested(6))).toContain('5 deep');
    expect(getRefusal({ $or: [{ a: { $not: { $not: { $not: { $not: { $gt: 1 } } } } } }] })).toBe(
      'accepted',
    );
    expect(
      getRefusal({ $or: [{ $nor: [{ a: { $not: { $not: { $not: { $not: { $gt: 1 } } } } } }] }] }),
    ).toContain('5 deep');
    expect(getRefusal({ $or: times(50, { a: 1 }) })).toBe('accepted');
    expect(getRefusal({ $or: times(51, { a: 1 }) })).toContain('50 conditions');
    expect(getRefusal({ a: { $in: times(100, 1) } })).toBe('accepted');
    expect(getRefusal({ a: { $in: times(101, 1) } })).toContain('100 values');
    expect(getRefusal({ a: { $all: times(101, 1) } })).toContain('100 values');
    const lists = (count: number, path: string) => ({
      $or: times(count, { [path]: { $all: times(100, 1) } }),
    });
    expect(getRefusal(lists(5, 'a'))).toBe('accepted');
    expect(getRefusal(lists(6, 'a'))).toContain('more than 500 values up to "a": "$all"');
    expect(getRefusal(lists(1, 'a.a.a.a.a'))).toBe('accepted');
    expect(getRefusal(lists(1, 'a.a.a.a.a.a'))).toContain('500 values');
    const deep = times(15, 'a').join('.');
    expect(getRefusal({ $or: times(33, { [deep]: 1 }) })).toBe('accepted');
    expect(getRefusal({ $or: times(34, { [deep]: 1 }) })).toContain('500 values');
    expect(getRefusal({ [times(16, 'a').join('.')]: 1 })).toBe('accepted');
    expect(getRefusal({ [times(17, 'a').join('.')]: 1 })).toContain('16 levels');
    expect(getRefusal(`{"a":${'['.repeat(4000)}${']'.repeat(4000)}}`)).toContain('array');
    expect(getRefusal(`{"a":{"$eq":${'['.repeat(4000)}${']'.repeat(4000)}}}`)).toContain(
      '16 levels',
    );
  });

  it('takes the ids of records and owners in either case, as one filter', () => {
    const id = '018f0000-0000-7000-8000-0000000000a1';
    const parse = (field: string, given: string) =>
      [given, { $ne: given }, { $in: [given, null] }, { $gte: given }].map((test) =>
        parseWhere(JSON.stringify({ [field]: test })),
      );
    for (const field of ['id', 'ownerId'])
      expect(parse(field, id.toUpperCase())).toEqual(parse(field, id));
    expect(parse('other', id.toUpperCase())).not.toEqual(parse('other', id));
  });
});
