import { type AccessRules, collectionAccess, type FieldRules } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asUser } from '@backlot/testing';
import fc from 'fast-check';
import { ada, bob } from '../test-bed.ts';
import type { Data, Does, StoredShare, Value } from './words.ts';

const [red, blue] = [
  '018f0000-0000-7000-8000-000000000901',
  '018f0000-0000-7000-8000-000000000902',
];
export const callers = {
  anonymous: anonymous(),
  ada: asUser(ada, { groups: [{ id: red, role: 'member' }], emailVerified: true }),
  bob: asUser(bob),
  staff: asUser(bob, {
    role: 'staff',
    groups: [
      { id: red, role: 'viewer' },
      { id: blue, role: 'member' },
    ],
  }),
  key: asKey(),
} satisfies Record<string, Identity>;
export type CallerName = keyof typeof callers;

/** Records of the other collection, the last of which is missing. */
export const otherIds = [
  '018f0000-0000-7000-8000-000000000a01',
  '018f0000-0000-7000-8000-000000000a02',
  '018f0000-0000-7000-8000-000000000a03',
];

const words = fc.subarray([
  'anyone',
  'users',
  'verified',
  'owner',
  'ownerless',
  'group',
  'group:viewer',
  'shared',
  'role:staff',
]);
const rareWords = fc.oneof(
  words,
  fc.subarray(['verified', 'owner', 'group', 'group:member', 'shared', 'role:staff']),
);
const wordsForNew = fc.subarray(['anyone', 'users', 'verified', 'group', 'group:viewer']);
export const numberNames = ['a', 'b', 'c'];
export const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const operand = fc.constantFrom<unknown>(0, 1, 2, null, ada, '$caller.id', '$caller.role');
const tests = fc.oneof(
  operand,
  fc.record({ $gt: fc.integer({ min: 0, max: 1 }) }),
  fc.record({ $exists: fc.boolean() }),
  fc.record({ $ne: operand }),
  fc.record({ $in: fc.uniqueArray(operand, { maxLength: 3 }) }),
);
const ofOwner = fc.oneof(
  fc.constantFrom<unknown>(null, ada, '$caller.id'),
  fc.record({ $ne: fc.constantFrom<unknown>(null, '$caller.id') }),
  fc.record({ $in: fc.subarray<unknown>([null, bob, '$caller.id', '$caller.role']) }),
);
const ownerWheres = ofOwner.map((ownerId): object => ({ ownerId }));
const fieldWheres = fc.oneof(
  fc
    .tuple(fc.constantFrom('a', 'a', 'b', 'b', 'c', 'other'), tests)
    .map(([name, test]): object => ({ [name]: test })),
  fc.record({ who: fc.oneof(tests, fc.constant('$caller.id')) }),
  fc.record({ a: tests, who: tests }),
  fc.record({ state: fc.oneof(tests, fc.record({ $all: fc.tuple(operand) })) }),
  fc.record({ $or: fc.tuple(fc.record({ b: tests }), ownerWheres) }),
);

type Rule = AccessRules['read'];
/** The rule, one with a condition, or a condition alone. */
const withConditions = (rule: fc.Arbitrary<string[]>, wheres: fc.Arbitrary<object>) => {
  const to = fc.oneof(rule, fc.constant(['anyone'])).filter((words) => words.length > 0);
  const condition = fc.record({ to, where: wheres });
  return fc.oneof(
    { weight: 2, arbitrary: rule },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          rule.map((words) => words.slice(0, 2)),
          condition,
        )
        .map(([words, one]) => [...words, one]),
    },
    { weight: 1, arbitrary: condition.map((one) => [one]) },
  ) as fc.Arbitrary<Rule>;
};

/** @param wheres of its conditions */
const rulesWith = (wheres: fc.Arbitrary<object>): fc.Arbitrary<AccessRules> => {
  const [all, rare, forNew] = [words, rareWords, wordsForNew].map((rule) =>
    withConditions(rule, wheres),
  ) as [fc.Arbitrary<Rule>, fc.Arbitrary<Rule>, fc.Arbitrary<Rule>];
  const fieldRules = fc
    .record({ read: rare, create: forNew, change: rare }, { requiredKeys: [] })
    .filter((rules) => Object.keys(rules).length > 0) as fc.Arbitrary<FieldRules>;
  const rules = fc.record(
    {
      read: fc.oneof(rare, fc.constant(['anyone'])),
      create: fc.oneof(forNew, fc.constant(['anyone'])),
      change: fc.oneof(rare, fc.constant(['anyone'])),
      delete: rare,
      count: all,
      fields: fc.dictionary(fc.constantFrom('a', 'b', 'other', 'at'), fieldRules),
    },
    { requiredKeys: ['read', 'create', 'change'] },
  ) as fc.Arbitrary<AccessRules>;
  return rules.filter((access) => collectionAccess.safeParse(access).success);
};
export const rules = rulesWith(fc.oneof(fieldWheres, ownerWheres));
/** No field that may be hidden decides anything. */
export const rulesOnOwners = rulesWith(ownerWheres);

export const number = fc.integer({ min: 0, max: 2 });
export const numbers = fc.dictionary(fc.constantFrom(...numberNames), number);
const inner = fc.dictionary(fc.constantFrom('x', 'y'), number, { maxKeys: 2 });
export const data: fc.Arbitrary<Data> = fc
  .tuple(
    numbers,
    optional(fc.constantFrom(...otherIds)),
    optional(fc.constantFrom(ada, bob, 'staff')),
    optional(fc.constantFrom<Value>(0, 1, [0], [0, 1], [ada, 1], ['staff', bob])),
    optional(fc.oneof({ weight: 5, arbitrary: inner }, { weight: 1, arbitrary: number })),
  )
  .map(([given, other, who, state, at]) => ({
    ...given,
    ...(state !== undefined && { state }),
    ...(other !== undefined && { other }),
    ...(who !== undefined && { who }),
    ...(at !== undefined && { at }),
  }));
export const userId = fc.constantFrom(ada, bob);
export const may = fc.constantFrom<Does>('read', 'change');
export const groupId = fc.constantFrom(red, blue);
export const email = fc.constantFrom('ada@example.org', 'bob@example.org');
const share = fc.oneof<fc.Arbitrary<StoredShare>[]>(
  fc.record({ userId, may }),
  fc.record({ userId: fc.constantFrom(null, ada, bob), email, may }),
);
export const stored = fc.record({
  ownerId: fc.constantFrom(null, ada, bob),
  groupId: fc.constantFrom(null, red, blue),
  shares: fc.uniqueArray(share, { selector: ({ userId, email }) => email ?? userId, maxLength: 3 }),
  data,
});
