import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ItemCounter } from './count-items.ts';

const count = (json: string, chunkBytes = 1024) => {
  const counter = new ItemCounter();
  const bytes = Buffer.from(json);
  for (let at = 0; at < bytes.length; at += chunkBytes)
    counter.push(bytes.subarray(at, at + chunkBytes));
  return counter.items;
};

describe('the items of a body', () => {
  it('are counted in all lists together', () => {
    expect(count('{}')).toBe(0);
    expect(count('{"create": [ ], "delete":["a"]}')).toBe(1);
    expect(count('{"create":[{"data":{"a":[1,2,3],"b":","}}, {"data":{}}],"delete":["]"]}')).toBe(
      3,
    );
  });

  it('are no fewer where a name is spelled otherwise or comes twice', () => {
    const bodies = [
      '{"d\\u0065lete":["a","b"]}',
      '{"delete":["a"],"delete":["b"]}',
      '\ufeff{"delete":["a","b"]}',
    ];
    expect(bodies.map((body) => count(body))).toEqual([2, 2, 2]);
  });

  it('are those that JSON.parse finds, however the bytes arrive', () => {
    const lists = fc.dictionary(fc.string(), fc.array(fc.jsonValue()));
    const options = { chunkBytes: fc.integer({ min: 1, max: 9 }), indent: fc.nat(2) };
    fc.assert(
      fc.property(lists, fc.record(options), (body, { chunkBytes, indent }) => {
        const json = JSON.stringify(body, null, indent);
        const { length } = Object.values(JSON.parse(json) as typeof body).flat(1);
        expect(count(json, chunkBytes)).toBe(length);
      }),
    );
  });
});
