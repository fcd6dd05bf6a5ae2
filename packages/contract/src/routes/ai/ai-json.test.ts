import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toJsonSchema } from './ai-json.ts';
import { promptTokensAtMost } from './ai-price.ts';

const object = (properties: Record<string, unknown>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const string = { type: 'string' };

describe('toJsonSchema', () => {
  it.each([
    [{}],
    [{ type: 'string' }],
    [{ type: ['string', 'null'], description: 'A name' }],
    [{ type: 'object' }],
    [{ $schema: 'https://json-schema.org/draft/2020-12/schema', mine: 1 }],
    [{ $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }],
    [{ properties: { name: { type: 'string' } }, 'x-order': 1 }],
    [{ items: { type: 'string' }, mine: 1 }],
    [{ items: {} }],
    [{ items: false }],
    [{ anyOf: [{ type: 'string' }], mine: 1 }],
    [{ oneOf: [] }],
    [{ allOf: [{ $ref: '#' }] }],
    [{ not: {} }],
    [{ if: { required: ['a'] }, else: false }],
    [{ enum: ['a', 'b'] }],
    [{ const: 5 }],
    [{ type: 'array', items: ['string'] }],
    [{ $async: true, type: 'string' }],
  ])('leaves a schema as it is: %j', (schema) => {
    expect(toJsonSchema(schema)).toBe(schema);
  });

  it.each([
    [{ name: 'string' }, object({ name: string })],
    [
      { title: 'string', tags: ['string'] },
      object({ title: string, tags: { type: 'array', items: string } }),
    ],
    [
      { a: 'Number', b: 'INTEGER', c: 'boolean', d: 'null', e: 'string?', f: 'null?' },
      object({
        a: { type: 'number' },
        b: { type: 'integer' },
        c: { type: 'boolean' },
        d: { type: 'null' },
        e: { type: ['string', 'null'] },
        f: { type: 'null' },
      }),
    ],
    [
      { name: 'Ada', age: 36, admin: true, boss: null, tags: [], friends: [{ name: 'Bob' }, 5] },
      object({
        name: string,
        age: { type: 'number' },
        admin: { type: 'boolean' },
        boss: { type: 'null' },
        tags: { type: 'array', items: {} },
        friends: { type: 'array', items: object({ name: string }) },
      }),
    ],
    [{ rows: [['number']] }, object({ rows: items(items({ type: 'number' })) })],
    [{ type: 'string', name: 'string' }, object({ type: string, name: string })],
    [{ type: 'banana' }, object({ type: string })],
    [{ title: 'string', description: 'string' }, object({ title: string, description: string })],
    [{ items: [{ name: 'string' }] }, object({ items: items(object({ name: string })) })],
    [{ items: { name: 'string' } }, object({ items: object({ name: string }) })],
    [{ if: 'string', not: 'string' }, object({ if: string, not: string })],
    [{ address: {}, size: { enum: [1, 2] } }, object({ address: {}, size: { enum: [1, 2] } })],
    [{ toString: 'string', constructor: 1 }, object({ toString: string, constructor: number() })],
  ])('reads an example or a sketch: %j', (sketch, schema) => {
    expect(toJsonSchema(sketch)).toEqual(schema);
  });
  function items(schema: unknown) {
    return { type: 'array', items: schema };
  }
  function number() {
    return { type: 'number' };
  }

  it('refuses what is nested too deeply, whatever is sent', () => {
    for (const nest of [
      (inner: unknown) => ({ a: inner }),
      (inner: unknown) => ({ items: inner }),
      (inner: unknown) => [inner],
    ]) {
      let deep: unknown = 1;
      for (let level = 0; level < 200_000; level++) deep = nest(deep);
      expect(() => toJsonSchema({ a: deep })).toThrow(RangeError);
    }
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (json) => {
        expect(toJsonSchema(json)).toEqual(expect.any(Object));
      }),
    );
  });

  it('is what a prompt is priced by', () => {
    const body = { messages: [{ role: 'user', content: '' }] };
    const sketch = { name: 'string' };
    expect(promptTokensAtMost({ ...body, json: sketch })).toBe(
      promptTokensAtMost({ ...body, json: toJsonSchema(sketch) }),
    );
  });
});
