import { readdirSync } from 'node:fs';
import { constants, getPriority } from 'node:os';
import { until } from '@backlot/testing';
import { afterAll, describe, expect, it } from '@jest/globals';
import { createJsonSchemas, type JsonSchema, SchemaRefused } from './json-schemas.ts';

const nested = (levels: number): JsonSchema =>
  levels === 0
    ? { type: 'string' }
    : { type: 'object', properties: { a: nested(levels - 1) }, required: ['a'] };

/** Each definition refers to the next one twice. */
const doubling = (count: number, keyword: string): JsonSchema => ({
  $defs: Object.fromEntries(
    Array.from({ length: count }, (_, index) => {
      const next = { $ref: `#/$defs/a${index + 1}` };
      return [`a${index}`, index === count - 1 ? { type: 'string' } : { [keyword]: [next, next] }];
    }),
  ),
  $ref: '#/$defs/a0',
});

const draft07 = 'http://json-schema.org/draft-07/schema#';
const satisfiable: Record<string, JsonSchema> = {
  'an empty schema': {},
  'a constant': { const: { a: [1, null] } },
  'a list': { type: 'array', items: { enum: [1, 2, 3] }, minItems: 3, uniqueItems: true },
  'a tuple of 2020-12': {
    prefixItems: [{ type: 'string' }],
    type: 'array',
    minItems: 1,
    items: false,
  },
  'definitions of draft-07': {
    $schema: draft07,
    definitions: { a: { type: 'boolean' } },
    $ref: '#/definitions/a',
  },
  'a pattern': { type: 'string', pattern: '^[A-Z]{3}-\\d{4}$' },
  'a pattern that looks ahead': { type: 'string', pattern: '^(?=.*\\d)[a-z\\d]{4}$' },
  formats: {
    type: 'object',
    properties: { e: { type: 'string', format: 'email' }, d: { type: 'string', format: 'date' } },
    required: ['e', 'd'],
  },
  'a union': { oneOf: [{ type: 'string' }, { type: 'integer', minimum: 5 }] },
  // As text, because an object with the key "then" looks like a promise.
  'a condition': JSON.parse(`{
    "type": "object", "properties": { "k": { "enum": ["x", "y"] } }, "required": ["k"],
    "if": { "properties": { "k": { "const": "x" } } }, "then": { "required": ["v"] }
  }`),
  'a tree': {
    type: 'object',
    properties: { v: { type: 'integer' }, children: { type: 'array', items: { $ref: '#' } } },
    required: ['v', 'children'],
  },
  'a list that ends with null': {
    type: 'object',
    properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } },
    required: ['next'],
  },
  'names of Object.prototype': {
    type: 'object',
    properties: { toString: { type: 'number' } },
    required: ['toString'],
  },
  'twenty levels': nested(20),
};

const refused: Record<string, JsonSchema> = {
  'a type that does not exist': { type: 'banana' },
  'a dialect that does not exist': { $schema: 'https://example.com/mine' },
  'a reference to elsewhere': { $ref: 'http://127.0.0.1:1/schema.json' },
  'a reference to nothing': { $ref: '#/$defs/nothing' },
  'a broken pattern': { type: 'string', pattern: '(' },
  'an asynchronous schema': { $async: true, type: 'string' },
  'too many levels': nested(40),
  'a schema of 70,000 characters': { description: 'x'.repeat(70_000) },
};

const hopeless: Record<string, JsonSchema> = {
  'a contradiction': { type: 'string', minLength: 5, maxLength: 3 },
  'no value at all': { not: {} },
  'an object within itself without end': {
    type: 'object',
    properties: { c: { $ref: '#' } },
    required: ['c'],
  },
  'a reference to itself': { $ref: '#' },
  'allOf itself': { allOf: [{ $ref: '#' }] },
  'a string of a billion characters': { type: 'string', minLength: 1e9 },
  'a list of a billion items': { type: 'array', minItems: 1e9 },
  'an object of a billion keys': { type: 'object', minProperties: 1e9 },
  'a pattern of a billion characters': {
    type: 'string',
    pattern: '^((((a{100}){100}){100}){100})$',
  },
  'a catastrophic pattern': { type: 'string', pattern: '^(a+)+$', const: `${'a'.repeat(50)}!` },
  'doubling allOf': doubling(40, 'allOf'),
  'doubling anyOf': doubling(40, 'anyOf'),
  'doubling oneOf': doubling(40, 'oneOf'),
};

const requester = ['owner', 'project', '192.0.2.1'] as const;

describe('schemas of strangers', () => {
  const schemas = createJsonSchemas();
  /** Of which nobody has used anything. */
  const fresh = createJsonSchemas();
  const impatient = createJsonSchemas({ limitMs: 500 });
  afterAll(() => Promise.all([schemas, fresh, impatient].map((all) => all.close())));
  const example = (schema: JsonSchema, by = schemas) =>
    by.example(requester, schema, { seed: 7, maxBytes: 16_000 });

  it.each(Object.entries(satisfiable))('are satisfied: %s', async (_name, schema) => {
    await schemas.check(requester, schema);
    const value = await example(schema);
    expect(await schemas.mismatch(requester, schema, value)).toBeUndefined();
    expect(await example(schema)).toBe(value);
  });

  it.each(Object.entries(refused))('are refused: %s', async (_name, schema) => {
    await expect(schemas.check(requester, schema)).rejects.toThrow(SchemaRefused);
    await expect(example(schema)).rejects.toThrow(SchemaRefused);
  });

  it.each(Object.entries(hopeless))(
    'take neither time nor memory without end: %s',
    async (_name, schema) => {
      const found = impatient.example(requester, schema, { seed: 7, maxBytes: 16_000 });
      await expect(found).rejects.toThrow(SchemaRefused);
    },
  );

  it('leave the CPU to calls: their thread has a lower priority', async () => {
    await schemas.check(requester, { type: 'string' });
    if (process.platform !== 'linux') return;
    const lowest = Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL);
    const threads = readdirSync('/proc/self/task').map((thread) => getPriority(Number(thread)));
    expect(threads).toContain(lowest);
  });

  it('are worked on while others use up their time', async () => {
    const hostile = hopeless['a catastrophic pattern'] ?? {};
    const [harmless, ...rest] = await Promise.allSettled([
      schemas.check(requester, { type: 'string' }),
      ...Array.from({ length: 2 }, () => example(hostile)),
      schemas.check(requester, { type: 'string' }),
    ]);
    expect(harmless?.status).toBe('fulfilled');
    expect(rest.map((result) => result.status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  });

  it('keep nobody from theirs: who has used least goes next', async () => {
    const hostile = hopeless['a catastrophic pattern'] ?? {};
    const done: string[] = [];
    const attack = (owner: string) =>
      Array.from({ length: 3 }, async () => {
        const from = [owner, owner, '192.0.2.66'] as const;
        const example = fresh.example(from, hostile, { seed: 7, maxBytes: 100 });
        await expect(example).rejects.toThrow(SchemaRefused);
        done.push(owner);
      });
    const attacks = [...attack('eve'), ...attack('mallory')];
    await fresh.check(requester, { type: 'string' });
    const doneBefore = done.length;
    await Promise.all(attacks);
    expect(done).toHaveLength(6);
    expect(doneBefore).toBeLessThanOrEqual(3);
  });

  it('are turned away while too many wait', async () => {
    const all = await Promise.allSettled(
      Array.from({ length: 150 }, () => schemas.check(requester, { type: 'string' })),
    );
    const failed = all.filter((result) => result.status === 'rejected');
    expect(failed.length).toBeGreaterThan(0);
    for (const result of failed) expect(result.reason).toMatchObject({ code: 'overloaded' });
  });

  it('tell what is wrong with a value', async () => {
    const schema = { type: 'object', properties: { n: { type: 'number' } } };
    expect(await schemas.mismatch(requester, schema, '{"n":"x"}')).toContain('n must be number');
  });

  it('prefer a value that fits, else give the shortest', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string', minLength: 100 } } };
    expect(await schemas.example(requester, schema, { seed: 1, maxBytes: 10 })).toBe('{}');
    const text = { type: 'string', minLength: 100, maxLength: 100 };
    expect(await schemas.example(requester, text, { seed: 1, maxBytes: 10 })).toHaveLength(102);
  });
});

describe('the limit of a thread for schemas', () => {
  const schemas = createJsonSchemas({
    limitMs: 200,
    threadFile: new URL('../testing/dying-thread.ts', import.meta.url),
  });
  afterAll(() => schemas.close());

  it('is the time that it uses a processor, not the time that passes', async () => {
    await schemas.check(requester, { title: 'waits' });
    await expect(schemas.check(requester, { title: 'ends late' })).rejects.toThrow(SchemaRefused);
  });

  it('makes nobody wait for good: who got no processor may try again', async () => {
    await expect(schemas.check(requester, { title: 'waits for good' })).rejects.toMatchObject({
      code: 'unavailable',
      status: 503,
      message: expect.stringContaining('could not be done in time'),
    });
    await schemas.check(requester, { title: 'is fine' });
  });
});

describe('a thread for schemas that ends by itself', () => {
  const schemas = createJsonSchemas({
    limitMs: 1000,
    threadFile: new URL('../testing/dying-thread.ts', import.meta.url),
  });
  afterAll(() => schemas.close());
  const check = (title: string) => schemas.check(requester, { title });

  it('leaves its call a 503, and to those that wait another thread', async () => {
    const titles = ['ends at once', 'is fine', 'ends at once', 'is fine'];
    expect(await Promise.allSettled(titles.map(check))).toMatchObject([
      { status: 'rejected', reason: { code: 'unavailable' } },
      { status: 'fulfilled' },
      { status: 'rejected', reason: { code: 'unavailable' } },
      { status: 'fulfilled' },
    ]);
  });

  it('is replaced although it ended without a call, or while its time was over', async () => {
    await check('ends without a call');
    await until(() =>
      check('is fine').then(
        () => true,
        () => false,
      ),
    );
    await expect(check('ends late')).rejects.toThrow(SchemaRefused);
    await check('is fine');
  });
});
