import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { conditions, filters } from '../../testing/arbitrary-filters.ts';
import type { Json } from '../../where/filter.ts';
import { holds } from '../../where/holds.ts';
import { parseWhere } from '../../where/parse.ts';
import { parseAggregation } from './aggregation.ts';
import { filterGroups } from './having.ts';
import type { Group } from './results.ts';

const measured = fc.constantFrom(
  null,
  0,
  1,
  1.5,
  -1,
  10,
  'a',
  'ab',
  'B',
  'é',
  '1',
  '\u{1F600}',
  '',
);
const groups = fc.array(
  fc.record({
    count: fc.nat(3),
    sum: fc.record({ a: fc.constantFrom(0, 1, 10) }),
    avg: fc.record({ a: measured }),
    min: fc.record({ 'b.c': measured }),
    distinct: fc.record({ d: fc.nat(3) }),
  }),
  { maxLength: 6 },
) as fc.Arbitrary<Group[]>;
const operand = fc.constantFrom<Json>(null, 0, 1, 2, 10, 'a', 'B', '1', true);
const names = ['count', 'sum.a', 'avg.a', 'min.b.c', 'distinct.d'];
const having = filters(conditions(fc.constantFrom(...names), operand, { sizes: true }));
const query = { sum: 'a', avg: 'a', min: 'b.c', distinct: 'd' };

/** As a record whose fields are those of the sums. */
const toDocument = ({ count, sum, avg, min, distinct }: Group): Json =>
  ({ count, sum, avg, min: { b: { c: min?.['b.c'] ?? null } }, distinct }) as Json;

describe('having', () => {
  it('takes the groups that a filter of records would', () => {
    fc.assert(
      fc.property(groups, having, (found, filter) => {
        const text = JSON.stringify(filter);
        const aggregation = parseAggregation({ ...query, having: text });
        expect(filterGroups(found, aggregation.having, aggregation)).toEqual(
          found.filter((group) => holds(parseWhere(text), toDocument(group))),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['{"sum.price":{"$gt":1}}', 'nothing that this call counts'],
    ['{"sum.aa":1}', 'did you mean "sum.a"?'],
    ['{"status":"x"}', '"having": "status"'],
    ['{"count":{"$above":1}}', '"having": "count"'],
    ['nonsense', '"having": is not valid JSON'],
  ])('refuses %s', (text, words) => {
    const parse = () => parseAggregation({ ...query, having: text });
    expect(parse).toThrow(expect.objectContaining({ code: 'invalid_query' }));
    expect(parse).toThrow(words);
  });
});
