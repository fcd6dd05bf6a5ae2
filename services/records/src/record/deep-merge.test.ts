import { asUser } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
const isObject = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** RFC 7396, section 2. */
const mergePatch = (target: Json | undefined, patch: Json): Json => {
  if (!isObject(patch)) return patch;
  const merged = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
};

const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'medium', maxDepth: 4 },
    fc.constantFrom<Json>(null, true, 0, 1.5, '', 'x'),
    fc.array(tie('json'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('json'), { maxKeys: 3 }),
  ),
}));
const document = fc.dictionary(fc.constantFrom('a', 'b', 'c'), json, { maxKeys: 3 });

describe('PATCH with merge=deep', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const identity = asUser(ada);
  const deep = (id: string, body: object, by = identity) =>
    bed.call('PATCH', `/db/notes/${id}?merge=deep`, { identity: by, body });
  const withoutOwnFields = ({
    id,
    ownerId,
    createdAt,
    updatedAt,
    ...data
  }: Record<string, unknown>) => data;

  it('means what RFC 7396 says', async () => {
    await fc.assert(
      fc.asyncProperty(document, document, async (before, patch) => {
        const { id } = await bed.create('notes', before, identity);
        const { status, body } = await deep(id, { data: patch });
        expect(status).toBe(200);
        expect(withoutOwnFields(body)).toEqual(mergePatch(before, patch));
      }),
      { numRuns: 200 },
    );
  });

  it('goes with unset and inc', async () => {
    const { id } = await bed.create('notes', { a: { b: 1, c: 2 }, n: 1, old: 1 }, identity);
    const { body } = await deep(id, { data: { a: { b: null } }, inc: { n: 2 }, unset: ['old'] });
    expect(withoutOwnFields(body)).toEqual({ a: { c: 2 }, n: 3 });
  });

  it('leaves top-level objects replaced without it', async () => {
    const { id } = await bed.create('notes', { a: { b: 1 } }, identity);
    const { body } = await bed.call('PATCH', `/db/notes/${id}`, {
      identity,
      body: { data: { a: { c: null } } },
    });
    expect(withoutOwnFields(body)).toEqual({ a: { c: null } });
  });

  it('has the bounds of every change', async () => {
    const nested = (depth: number): object => (depth === 1 ? { a: 1 } : { a: nested(depth - 1) });
    const { id } = await bed.create('notes', nested(16), identity);
    expect((await deep(id, { data: nested(16) })).status).toBe(200);
    expect((await deep(id, { data: nested(17) })).body.code).toBe('invalid_data');
    const keys = (prefix: string) =>
      Object.fromEntries(Array.from({ length: 700 }, (_, n) => [`${prefix}${n}`, 'x'.repeat(9)]));
    expect((await deep(id, { data: { more: keys('a') } })).status).toBe(200);
    const tooMany = await deep(id, { data: { more: keys('b') } });
    expect([tooMany.status, tooMany.body.code]).toEqual([400, 'invalid_data']);
    expect((await deep(id, { data: { $set: { a: 1 } } })).status).toBe(400);
  });

  it('loses no field where many merge at once', async () => {
    const { id } = await bed.create('notes', { votes: {} }, identity);
    const voters = Array.from({ length: 20 }, (_, n) => `v${n}`);
    await Promise.all(voters.map((voter) => deep(id, { data: { votes: { [voter]: 1 } } })));
    const { body } = await bed.call('GET', `/db/notes/${id}`);
    expect(Object.keys(body.votes).sort()).toEqual([...voters].sort());
  });

  it('is no way to change what belongs to others, nor another kind of merge', async () => {
    const { id } = await bed.create('notes', { a: { b: 1 } }, identity);
    expect((await deep(id, { data: { a: { c: 1 } } }, asUser(bob))).status).toBe(403);
    const { status, body } = await bed.call('PATCH', `/db/notes/${id}?merge=true`, {
      identity,
      body: { data: {} },
    });
    expect([status, body.error]).toEqual([400, '"merge" must be one of "deep", "shallow"']);
  });
});
