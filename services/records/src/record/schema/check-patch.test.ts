import type { RecordSchema } from '@backlot/contract';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SchemaCheck } from '../../schema/check.ts';
import { isObject, type ValueSchema } from '../../schema/compiled-schema.ts';
import { parseSchema } from '../../schema/parse.ts';
import { parsePatch } from '../patch.ts';
import { checkPatch } from './check-patch.ts';

type Data = Record<string, unknown>;

const small = fc.integer({ min: -3, max: 3 });
const field = fc.oneof(
  fc.record({ minimum: small, maximum: small }, { requiredKeys: [] }).map((bounds) => ({
    type: 'integer',
    ...bounds,
  })),
  fc.constant({ type: 'number' }),
  fc.constant({ type: 'number', exclusiveMinimum: 0 }),
  fc.constant({ enum: [0, 1, 'a', null] }),
  fc.constant({ type: 'string', minLength: 1 }),
  fc.constant({ type: ['object', 'null'], properties: { x: { minimum: 0 } }, required: ['x'] }),
  fc.constant({ type: 'object', properties: { x: {} }, additionalProperties: false }),
  fc.constant({}),
  fc.constant(false),
);
const schema: fc.Arbitrary<RecordSchema> = fc.record(
  {
    properties: fc.record({ a: field, b: field }, { requiredKeys: [] }),
    required: fc.subarray(['a', 'b']),
    additionalProperties: fc.oneof(fc.boolean(), field),
  },
  { requiredKeys: ['properties', 'required'] },
);
const plain = fc.oneof(small, fc.constantFrom('', 'a', null, true, 0.5));
const object = fc.dictionary(fc.constantFrom('x', 'y'), plain, { maxKeys: 2 });
const value = fc.oneof(plain, object);
const document = fc.record({ a: value, b: value, c: value }, { requiredKeys: [] });
const action = fc.oneof(
  fc.record({ set: value }),
  fc.constant({ isUnset: true as const }),
  fc.record({ by: fc.constantFrom(-2, -1, 0.5, 1, 2) }),
  fc.constant({}),
);
const actions = fc.record({ a: action, b: action, c: action });

/** As a patch, with sums of numbers alone. */
const toBody = (before: Data, given: Record<string, object>) => {
  const body = { data: {} as Data, unset: [] as string[], inc: {} as Record<string, number> };
  for (const [name, one] of Object.entries(given)) {
    if ('set' in one) body.data[name] = one.set;
    if ('isUnset' in one) body.unset.push(name);
    const isNumber = typeof (before[name] ?? 0) === 'number' && before[name] !== null;
    if ('by' in one && isNumber) body.inc[name] = Number(one.by);
  }
  return body;
};

/** RFC 7396. */
const merge = (target: unknown, given: unknown): unknown => {
  if (!isObject(given)) return given;
  const merged: Data = isObject(target) ? { ...target } : {};
  for (const [name, one] of Object.entries(given)) {
    if (one === null) delete merged[name];
    else merged[name] = merge(merged[name], one);
  }
  return merged;
};

const fits = (root: ValueSchema, data: Data): boolean => {
  const check = new SchemaCheck();
  check.fields(root, data);
  check.missing(root, (name) => Object.hasOwn(data, name));
  return check.problems.length === 0;
};

/** A schema, and a record that fits it: the fields that do, of which alone some are required. */
const toFitting = (given: RecordSchema, document: Data) => {
  const { root } = parseSchema({ ...given, required: [] });
  const before = Object.fromEntries(
    Object.entries(document).filter(([name, value]) => fits(root, { [name]: value })),
  );
  const required = (given.required as string[]).filter((name) => Object.hasOwn(before, name));
  return { root: { ...root, required }, before };
};

describe('what is asked of a patch', () => {
  it('is that the record fits behind it, for every record that fitted before', () => {
    const outcomes = new Set<string>();
    const property = fc.property(
      schema,
      document,
      actions,
      fc.boolean(),
      (given, document, changes, isDeep) => {
        const { root, before } = toFitting(given, document);
        const { data, unset, inc } = toBody(before, changes);
        const after = (isDeep ? merge(before, data) : { ...before, ...data }) as Data;
        for (const name of unset) delete after[name];
        for (const [name, by] of Object.entries(inc)) after[name] = Number(before[name] ?? 0) + by;
        const check = new SchemaCheck();
        const open = checkPatch(check, root, parsePatch({ data, unset, inc }, isDeep));
        check.fields(root, Object.fromEntries(open.map((name) => [name, after[name]])));
        const isTaken = check.problems.length === 0;
        outcomes.add(`${isTaken} ${open.length > 0}`);
        expect(isTaken).toBe(fits(root, after));
      },
    );
    fc.assert(property, { numRuns: 3000 });
    expect(outcomes.size).toBe(4);
  });
});
