import { ApiError } from '@backlot/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';
import { checkData } from './data.ts';

const getRefusal = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_data') return error.message;
    throw error;
  }
  return 'accepted';
};
const check = (data: unknown) => getRefusal(() => checkData(data));
const parse = (json: string): unknown => JSON.parse(json);
const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
const manyKeys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1]));

describe('data', () => {
  it.each([
    [null, 'must be an object'],
    [[], 'must be an object'],
    ['x', 'must be an object'],
    [undefined, 'must be an object'],
    [{ $a: 1 }, 'data.$a starts with "$"'],
    [{ a: [{ b: { $c: 1 } }] }, 'data.a[0].b.$c starts with "$"'],
    [{ 'a.b': 1 }, 'has a "."'],
    [{ 'a\0': 1 }, 'NUL'],
    [{ '\ud800': 1 }, 'surrogate'],
    [{ a: ['x', '\0'] }, 'data.a[1] holds NUL'],
    [{ a: '\ud800' }, 'data.a holds'],
    [{ a: { b: Number.POSITIVE_INFINITY } }, 'data.a.b is too large'],
    [parse('{"a":1e400}'), 'data.a is too large'],
    [parse('{"__proto__":{"x":1}}'), 'data.__proto__'],
    [parse('{"a":[{"__proto__":null}]}'), 'data.a[0].__proto__'],
    [deep(17), 'deeper than 16'],
    [manyKeys(1025), 'more than 1024 keys'],
    [{ a: manyKeys(1024) }, 'more than 1024 keys'],
  ])('refuses %j and names the place', (data, reason) => {
    expect(check(data)).toContain(reason);
  });

  it('refuses 100,000 levels without falling over', () => {
    expect(check(parse(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`))).toContain(
      'deeper than 16',
    );
    expect(check(parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`))).toContain(
      'deeper than 16',
    );
  });

  it('accepts what just fits', () => {
    expect(check(deep(16))).toBe('accepted');
    expect(check(manyKeys(1024))).toBe('accepted');
    expect(check({ a: 'x'.repeat(1024 * 1024 - 9) })).toBe('accepted');
    expect(check({ a: 'x'.repeat(1024 * 1024 - 8) })).toContain('1048576 bytes');
    expect(
      check({ '': '', 'a b': { id: 1, ownerId: 2 }, constructor: 1, hasOwnProperty: null }),
    ).toBe('accepted');
  });

  it('counts the size that the database writes, not the size that was sent', () => {
    expect(check({ a: Array.from({ length: 3400 }, () => 1e308) })).toContain('1048576 bytes');
    expect(check({ a: Array.from({ length: 3200 }, () => 1e308) })).toBe('accepted');
    expect(check({ a: Array.from({ length: 3400 }, () => 5e-324) })).toContain('1048576 bytes');
  });

  it('drops the record’s own fields at the top and nowhere else', () => {
    const sent = { id: 1, ownerId: 2, createdAt: 3, updatedAt: 4, a: { id: 5 } };
    expect(checkData(sent).json).toBe('{"a":{"id":5}}');
  });
});

describe('what PostgreSQL keeps of data', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const text = fc.string({ unit: 'binary' }).filter((sample) => !sample.includes('\0'));
  const key = text.filter((sample) => !/^\$|\.|^__proto__$/.test(sample));
  const number = fc.double({ noNaN: true, noDefaultInfinity: true });
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      text,
      number,
      fc.maxSafeInteger(),
      fc.constantFrom(
        1e308,
        -1e308,
        5e-324,
        1e21,
        1.5e-7,
        123456789012345680000,
        null,
        true,
        false,
      ),
      fc.array(tie('value')),
      fc.dictionary(key, tie('value')),
    ),
  }));

  it('comes back equal, and has the size that was counted', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.dictionary(key, value), { minLength: 30, maxLength: 30 }),
        async (documents) => {
          const checked = documents.map((data) => checkData(data));
          const rows = await bed.database.query<{ text: string; size: number }>(
            `SELECT data::text AS text, octet_length(data::text) AS size
           FROM unnest($1::jsonb[]) WITH ORDINALITY d(data, n) ORDER BY n`,
            [checked.map(({ json }) => json)],
          );
          const expected = checked.map(({ json, sizeBytes }) => ({
            value: JSON.parse(json),
            sizeBytes,
          }));
          expect(
            rows.map(({ text: kept, size }) => ({ value: JSON.parse(kept), sizeBytes: size })),
          ).toEqual(expected);
        },
      ),
      { numRuns: 30 },
    );
  });
});
