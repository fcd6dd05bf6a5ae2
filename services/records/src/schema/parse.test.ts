import { ApiError, type RecordSchema } from '@backlot/contract';
import { describe, expect, it } from '@jest/globals';
import { SchemaCheck } from './check.ts';
import { fillDefaults } from './fill.ts';
import { parseSchema } from './parse.ts';

const refusal = (schema: unknown) => {
  try {
    parseSchema(schema as RecordSchema);
  } catch (error) {
    if (error instanceof ApiError) return `${error.code}: ${error.message} ${error.hint ?? ''}`;
    throw error;
  }
  return 'taken';
};
const field = (schema: unknown) => ({ type: 'object', properties: { f: schema } });
const problems = (schema: unknown, data: Record<string, unknown>) => {
  const { root } = parseSchema(schema as RecordSchema);
  const check = new SchemaCheck();
  check.fields(root, data);
  check.missing(root, (name) => Object.hasOwn(data, name));
  return check.problems;
};

describe('a schema', () => {
  it.each([
    [field({ if: { const: 1 } }), /^invalid_body: schema\.properties\.f has "if"/],
    [field({ oneOf: [] }), /"oneOf".*\{"type": \["string", "null"\]\}/],
    [field({ $ref: '#/$defs/a' }), /"\$ref".*Write it out/],
    [field({ maxLenght: 3 }), /Did you mean "maxLength"/],
    [field({ nullable: true }), /"nullable".*\["string", "null"\]/],
    [field({ format: 'e-mail' }), /properties\.f\.format must be one of.*Did you mean "email"/],
    [field({ type: 'text' }), /properties\.f\.type must be one of/],
    [field({ type: [] }), /names no type/],
    [field({ minLength: -1 }), /whole number/],
    [field({ exclusiveMinimum: true }), /must be a number.*older drafts/],
    [field({ required: true }), /must be a list of names.*stands in the object/],
    [field({ pattern: '(?=a)' }), /is no regular expression that holds here.*RE2/],
    [field({ pattern: '(' }), /is no regular expression/],
    [field({ pattern: 'a'.repeat(501) }), /at most 500 characters/],
    [field({ pattern: '((a{1,99}){1,10}b){1,20}' }), /repeats too much/],
    [field({ pattern: '(a{9}){99}'.repeat(40) }), /repeats too much/],
    [field({ pattern: '[\\p{L}\\p{N}]{500}'.repeat(25) }), /repeats too much/],
    [field({ default: 1, type: 'string' }), /default that does not fit: it must be a text/],
    [field({ 'x-set': 'owner', default: 'x' }), /"x-set" and "default"/],
    [field({ 'x-set': 'me' }), /"owner", "now", "caller\.name"/],
    [field({ 'x-ref': 'no such name' }), /must be the name of a collection/],
    [field({ type: 'array', 'x-ref': 'people' }), /takes \{"type": "string"\}.*"items"/],
    [field({ properties: { g: { 'x-set': 'now' } } }), /"x-set" below another field/],
    [field(7), /must be a schema/],
    [{ type: 'array' }, /schema\.type must be "object"/],
    [{ minProperties: 1 }, /"minProperties", which says nothing of a single field/],
    [{ properties: { ownerId: {} } }, /schema names the field "ownerId": it is the record’s own/],
    [{ required: ['createdAt'] }, /"createdAt": it is the record’s own/],
    [{ properties: { 'a.b': {} } }, /has a "\."/],
    [{ properties: {}, required: ['a'], additionalProperties: false }, /requires "a"/],
    [{ $schema: 'http://json-schema.org/draft-07/schema#' }, /2020-12/],
  ])('%j is refused by name', (schema, message) => {
    expect(refusal(schema)).toMatch(message);
  });

  it('is bounded in levels, patterns and collections', () => {
    let deep: object = {};
    for (let n = 0; n < 20; n++) deep = { properties: { a: deep } };
    expect(refusal(deep)).toMatch(/more than 16 levels/);
    const many = (count: number, make: (n: number) => object) => ({
      properties: Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, make(n)])),
    });
    expect(refusal(many(20, () => ({ pattern: '^[\\u{1234}\\p{L}]\\u{1F600}{1,9}$' })))).toBe(
      'taken',
    );
    expect(refusal(many(21, () => ({ pattern: 'a' })))).toMatch(/more than 20 patterns/);
    expect(refusal(many(6, (n) => ({ 'x-ref': `c${n}` })))).toMatch(/more than 5 collections/);
  });

  it('tells all that does not fit, with its path and rule, up to 20 things', () => {
    const schema = {
      properties: {
        title: { type: 'string', minLength: 1, maxLength: 5 },
        items: { type: 'array', items: { properties: { price: { minimum: 0 } } } },
        when: { format: 'date' },
        state: { enum: ['open', 'done'] },
        amount: { type: 'integer' },
      },
      required: ['title', 'amount'],
      additionalProperties: false,
    };
    const data = { title: 'too long', items: [{ price: 1 }, { price: -1 }], when: 'now', state: 1 };
    expect(problems(schema, { ...data, 'a b': 1 })).toEqual([
      { path: 'title', rule: 'maxLength', message: 'may have at most 5 characters' },
      { path: 'items[1].price', rule: 'minimum', message: 'must be at least 0' },
      { path: 'when', rule: 'format', message: 'must be a date such as 2026-11-27' },
      { path: 'state', rule: 'enum', message: 'must be "open" or "done"' },
      { path: 'a b', rule: 'additionalProperties', message: 'is no field that there is here' },
      { path: 'amount', rule: 'required', message: 'is missing' },
    ]);
    const wrong = { list: Array.from({ length: 100_000 }, () => 'x') };
    expect(problems({ properties: { list: { items: { type: 'number' } } } }, wrong)).toHaveLength(
      20,
    );
  });

  it('ends what patterns cost: a text that is too long for one does not fit', () => {
    const schema = { properties: { list: { items: { pattern: '^(a|b|ab)*c{1,200}$' } } } };
    const list = Array.from({ length: 50 }, () => 'ab'.repeat(10_000));
    const rules = problems(schema, { list }).map(({ message }) => message);
    expect(rules).toContain('is too long to be matched with its pattern');
  });

  it('fills what is missing in objects that are there, and leaves what was sent as it is', () => {
    const { root } = parseSchema({
      properties: {
        state: { default: 'open' },
        at: { properties: { zone: { default: 'UTC' } } },
        list: { items: { properties: { n: { default: 1 } } } },
      },
    });
    const sent = { at: {}, list: [{}] };
    expect(fillDefaults(root, sent)).toEqual({ at: { zone: 'UTC' }, list: [{}], state: 'open' });
    expect(sent).toEqual({ at: {}, list: [{}] });
    const whole = { state: null, at: { zone: 'CET' } };
    expect(fillDefaults(root, whole)).toBe(whole);
    expect(fillDefaults(root, {}, (name) => name === 'state')).toEqual({});
  });
});
