import type { CollectionLimits } from '@backlot/contract';
import fc from 'fast-check';
import { ada, bob } from '../test-bed.ts';
import { numberNames, otherIds } from './arbitrary-collections.ts';
import { fieldsFit, type ValueSchema } from './schemas.ts';

const some = <Parts extends object>(
  parts: {
    [Name in keyof Parts]: fc.Arbitrary<Parts[Name]>;
  },
) => fc.record(parts, { requiredKeys: [] }) as fc.Arbitrary<ValueSchema>;

const numberField = fc.oneof(
  some({
    type: fc.constant('integer' as const),
    minimum: fc.constantFrom(0, 0, 1),
    maximum: fc.constantFrom(1, 2, 3, 4),
    default: fc.integer({ min: 0, max: 2 }),
  }),
  some({ enum: fc.constant([0, 1, 2]), default: fc.constantFrom(0, 1) }),
  fc.constantFrom<ValueSchema[]>({}, {}, { type: 'integer' }, { type: 'string' }),
);
const refField = fc.oneof(
  fc.constant<ValueSchema>({ type: 'string', 'x-ref': 'others' }),
  some({
    enum: fc.constant(otherIds.slice(0, 2)),
    default: fc.constantFrom(...otherIds.slice(0, 2)),
  }),
  fc.constant<ValueSchema>({ maxLength: 36 }),
);
const whoField = fc.oneof(
  fc.constant<ValueSchema>({ type: 'string', 'x-set': 'owner' }),
  fc.constant<ValueSchema>({ 'x-set': 'owner', enum: [ada, 'staff'] }),
  some({ enum: fc.constant([ada, bob]), default: fc.constantFrom(ada, bob) }),
  fc.constantFrom<ValueSchema[]>({}, { maxLength: 5 }),
);
const insideField = some({ minimum: fc.constant(1), maximum: fc.constant(1) });
const objectField = some({
  type: fc.constant('object' as const),
  properties: some({ x: insideField, y: insideField }) as fc.Arbitrary<Record<string, ValueSchema>>,
  required: fc.subarray(['x']),
  additionalProperties: fc.boolean(),
  default: fc.constantFrom({ x: 1 }, {}),
});

/** Whether the service takes it. */
const isSound = ({ properties = {}, required = [], additionalProperties }: ValueSchema) => {
  const defaults = Object.entries(properties).flatMap(([name, { default: value }]) =>
    value === undefined ? [] : [[name, value]],
  );
  const unknown = required.filter((name) => !(name in properties));
  return (
    (additionalProperties !== false || unknown.length === 0) &&
    fieldsFit({ properties }, Object.fromEntries(defaults), () => true)
  );
};

export const schemas: fc.Arbitrary<ValueSchema | undefined> = fc.option(
  fc
    .record({
      properties: some({
        ...Object.fromEntries(numberNames.map((name) => [name, numberField])),
        other: refField,
        who: whoField,
        at: objectField,
      }) as fc.Arbitrary<Record<string, ValueSchema>>,
      required: fc.subarray([...numberNames, 'other', 'who', 'at'], { maxLength: 3 }),
      additionalProperties: fc.constantFrom(true, true, true, false),
    })
    .filter((schema) => [schema, ...Object.values(schema.properties)].every(isSound)),
  { nil: undefined, freq: 2 },
);

export const limits: fc.Arbitrary<CollectionLimits> = fc.record(
  {
    maxBytes: fc.integer({ min: 20, max: 160 }),
    perUser: fc.integer({ min: 1, max: 3 }),
  },
  { requiredKeys: [] },
);
