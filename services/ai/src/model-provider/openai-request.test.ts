import { describe, expect, it } from '@jest/globals';
import { isStrict } from './openai-request.ts';

const object = (properties: object, changes: object = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...changes,
});

describe('strict mode', () => {
  it.each([
    [
      'an object',
      object({ a: { type: 'string', description: 'x' }, b: { type: 'integer', enum: [1] } }),
    ],
    ['an object without properties', object({})],
    ['a value that may be null', object({ a: { type: ['string', 'null'] } })],
    ['lists and unions', object({ a: { type: 'array', items: { anyOf: [object({})] } } })],
  ])('is asked for with %s', (_what, schema) => {
    expect(isStrict(schema)).toBe(true);
  });

  it.each([
    ['no object', { type: 'array', items: { type: 'string' } }],
    ['properties that may be missing', object({ a: {} }, { required: [] })],
    ['further properties', object({}, { additionalProperties: true })],
    ['a further keyword', object({ a: { type: 'string', minLength: 1 } })],
    ['a deeper object of that kind', object({ a: { type: 'object', properties: {} } })],
    ['a list of anything', object({ a: { type: 'array' } })],
    ['properties of no type', object({ a: { properties: { b: {} } } })],
    ['a reference', object({ a: { $ref: '#' } })],
    ['a value without a type', object({ a: { enum: [1, 2] } })],
    ['a value of many types', object({ a: { type: ['object', 'null'] } })],
    ['no schema', object({ a: true })],
    ['many levels', object({ a: object({ a: object({ a: object({ a: object({ a: {} }) }) }) }) })],
  ])('is not asked for with %s', (_what, schema) => {
    expect(isStrict(schema)).toBe(false);
  });
});
