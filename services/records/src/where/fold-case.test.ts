import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { evaluate } from '../testing/evaluate-filters.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';
import type { Json } from './filter.ts';
import { foldCase } from './fold-case.ts';
import { holds } from './holds.ts';
import { parseWhere } from './parse.ts';

/** Letters whose upper or lower case is another number of letters, several letters, or of another block. */
const letters = [
  'İ',
  'ı',
  'i',
  'I',
  'i\u0307',
  'I\u0307',
  '\u0307',
  'ß',
  'ẞ',
  'ss',
  'SS',
  's',
  'ſ',
  'Σ',
  'σ',
  'ς',
  'ﬁ',
  'fi',
  'FI',
  'ŉ',
  'ʼn',
  'ǰ',
  'ΐ',
  'ᾳ',
  'ΑΙ',
  'ᾼ',
  'µ',
  'μ',
  'K',
  'k',
  'Å',
  'å',
  'Ω',
  'ω',
  'Ǆ',
  'ǅ',
  'ǆ',
  'Ж',
  'ж',
  'և',
  'ԵՒ',
  'ა',
  'Ა',
  'Ꭰ',
  'ꭰ',
  'Ａ',
  'ａ',
  '𐐀',
  '𐐨',
  'É',
  'é',
  'e\u0301',
  ' ',
  'x',
];
const text = fc.array(fc.constantFrom(...letters), { maxLength: 4 }).map((all) => all.join(''));

describe('texts whose case is ignored', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it.each([
    ['İSTANBUL', 'istanbul'],
    ['istanbul', 'İSTANBUL'],
    ['ısparta', 'ISPARTA'],
    ['Straße', 'STRASSE'],
    ['STRAẞE', 'straße'],
    ['ΣΊΣΥΦΟΣ', 'Σίσυφος'],
    ['ὈΔΥΣΣΕΎΣ', 'Ὀδυσσεύς'],
  ])('%s is found by %s', async (value, asked) => {
    const part = [...asked].slice(0, 3).join('');
    const end = [...asked].slice(-3).join('');
    const tests = [{ $contains: asked }, { $startsWith: part }, { $endsWith: end }];
    const filters = tests.map((test) => ({ t: { ...test, $options: 'i' } }));
    expect(await evaluate(bed.database, [{ t: value }], filters)).toEqual([[0], [0], [0]]);
  });

  it('are the same in upper and in lower case, in the database as in this process', async () => {
    for (const letter of letters) {
      expect(foldCase(letter.toUpperCase())).toBe(foldCase(letter));
      expect(foldCase(letter.toLowerCase())).toBe(foldCase(letter));
    }
    const test = fc.constantFrom('$contains', '$startsWith', '$endsWith');
    const condition = fc.tuple(fc.constantFrom('t', 'a.b'), test, text, fc.boolean(), fc.boolean());
    const filter = fc.tuple(
      fc.constantFrom('$or', '$and'),
      fc.array(
        condition.map(([field, operator, asked, ignores, negates]) => {
          const one = { [operator]: asked, ...(ignores && { $options: 'i' }) };
          return { [field]: negates ? { $not: one } : one };
        }),
        { minLength: 1, maxLength: 5 },
      ),
    );
    const value = fc.oneof(text, fc.array(text, { maxLength: 3 }), fc.constantFrom(null, 7));
    const document = fc.oneof(
      value.map((t) => ({ t })),
      fc.tuple(value, value).map(([t, b]) => ({ t, a: { b } })),
      fc.tuple(text, value).map(([t, b]) => ({ t, a: [{ b }, { b: t }] })),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(document, { minLength: 20, maxLength: 20 }),
        fc.array(filter, { minLength: 10, maxLength: 10 }),
        async (documents, filters) => {
          const asked = filters.map(([operator, all]) => ({ [operator]: all }));
          const found = await evaluate(bed.database, documents, asked);
          for (const [i, one] of asked.entries()) {
            const where = parseWhere(JSON.stringify(one));
            const expected = documents.flatMap((each, n) =>
              holds(where, each as Json) ? [n] : [],
            );
            expect([one, found[i]]).toEqual([one, expected]);
          }
        },
      ),
      { numRuns: 25 },
    );
  });
});
