import fc from 'fast-check';
import type { Json } from '../where/filter.ts';

/** Few values, so that conditions are often met; among them what differs only by type or by a bit. */
export const scalar: fc.Arbitrary<Json> = fc.constantFrom<Json[]>(
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  10,
  9007199254740991,
  1e-7,
  '',
  'a',
  'b',
  'ab',
  'A',
  'é',
  '1',
  '10',
  'true',
  '\u{1F600}',
  '\uFFFF',
  '%_\\"',
);

const key = fc.constantFrom('a', 'b', 'c', '0', '1', '-1', 'x y', '"');

/** @param nested whether an array may have arrays in it, directly or in its objects */
export const values = (nested: boolean): fc.Arbitrary<Json> =>
  fc.letrec<{ value: Json; object: Json; array: Json; flat: Json }>((tie) => ({
    value: fc.oneof({ maxDepth: 3, withCrossShrink: true }, scalar, tie('object'), tie('array')),
    object: fc.dictionary(key, tie('value'), { maxKeys: 3 }),
    array: fc.array(tie(nested ? 'value' : 'flat'), { maxLength: 3 }),
    flat: fc.oneof({ maxDepth: 4 }, scalar, fc.dictionary(key, tie('flat'), { maxKeys: 3 })),
  })).value;

export const documents = (nested: boolean): fc.Arbitrary<{ [key: string]: Json }> =>
  fc.dictionary(key, values(nested), { maxKeys: 4 });

export const paths = fc.constantFrom(
  'a',
  'b',
  'a.b',
  'a.b.c',
  'b.a',
  'a.c',
  'c.x y',
  'a."',
  'c.b.a',
);
export const positionPaths = fc.constantFrom(
  '0',
  'a.0',
  'a.1',
  'a.0.b',
  'a.b.0',
  'a.-1',
  'b.0.0',
  'a.00',
);

const texts = fc.constantFrom('', 'a', 'b', 'ab', 'B', 'É', '1', '%', '\\', '.');
const ordered = scalar.filter((value) => value !== null);

/** @param operand of $eq, $in and their like */
export const conditions = (
  path: fc.Arbitrary<string>,
  operand: fc.Arbitrary<Json>,
  { sizes }: { sizes: boolean },
): fc.Arbitrary<{ [key: string]: Json }> => {
  const list = fc.array(operand, { maxLength: 3 });
  const operators = fc.oneof(
    fc.record({ $eq: operand }),
    fc.record({ $ne: operand }),
    fc.record({ $in: list }),
    fc.record({ $nin: list }),
    fc.record({ $all: list }),
    fc.record({ $gt: ordered }),
    fc.record({ $gte: ordered }),
    fc.record({ $lt: ordered }),
    fc.record({ $lte: ordered }),
    fc.record({ $gte: ordered, $lt: ordered }),
    fc.record({ $exists: fc.boolean() }),
    ...(sizes ? [fc.record({ $size: fc.nat(3) })] : []),
    fc.record({ $contains: texts }),
    fc.record({ $startsWith: texts, $options: fc.constant('i') }),
    fc.record({ $endsWith: texts, $options: fc.constant('i') }),
    fc.record({ $endsWith: texts }),
    fc.record({ $contains: texts, $options: fc.constant('i') }),
  ) as fc.Arbitrary<Json>;
  const test: fc.Arbitrary<Json> = fc.oneof(
    { weight: 4, arbitrary: operators },
    { weight: 1, arbitrary: operators.map(($not) => ({ $not })) },
    { weight: 1, arbitrary: operand.filter((value) => !Array.isArray(value)) },
  );
  return fc.tuple(path, test).map(([field, value]) => ({ [field]: value }));
};

/** Whole filters over conditions. */
export const filters = (
  condition: fc.Arbitrary<{ [key: string]: Json }>,
): fc.Arbitrary<{ [key: string]: Json }> => {
  const several = fc.array(condition, { minLength: 1, maxLength: 3 });
  return fc.oneof(
    { weight: 6, arbitrary: condition },
    { weight: 1, arbitrary: several.map(($or) => ({ $or })) },
    { weight: 1, arbitrary: several.map(($and) => ({ $and })) },
    { weight: 1, arbitrary: several.map(($nor) => ({ $nor })) },
    { weight: 1, arbitrary: fc.tuple(several, several).map(([$or, $nor]) => ({ $or, $nor })) },
  );
};
