import type { AccessRules, FieldRules } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asUser } from '@backlot/testing';
import fc from 'fast-check';
import { ada, bob } from '../test-bed.ts';
import type { Data, Does, StoredShare } from './words.ts';

const [red, blue] = [
  '018f0000-0000-7000-8000-000000000901',
  '018f0000-0000-7000-8000-000000000902',
];
export const callers = {
  anonymous: anonymous(),
  ada: asUser(ada, { groups: [{ id: red, role: 'member' }] }),
  bob: asUser(bob),
  staff: asUser(bob, { role: 'staff', groups: [{ id: blue, role: 'member' }] }),
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
  'owner',
  'ownerless',
  'group',
  'shared',
  'role:staff',
]);
const rareWords = fc.oneof(words, fc.subarray(['owner', 'group', 'shared', 'role:staff']));
const wordsForNew = fc.subarray(['anyone', 'users', 'group', 'role:staff']);
const numberNames = ['a', 'b', 'c'];
const fieldNames = [...numberNames, 'other'];
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const fieldRules: fc.Arbitrary<FieldRules> = fc
  .record({ read: rareWords, create: wordsForNew, change: rareWords }, { requiredKeys: [] })
  .filter((rules) => Object.keys(rules).length > 0);
export const rules = fc.record(
  {
    read: fc.oneof(rareWords, fc.constant(['anyone'])),
    create: wordsForNew,
    change: rareWords,
    delete: rareWords,
    count: words,
    fields: fc.dictionary(fc.constantFrom('a', 'b', 'other'), fieldRules),
  },
  { requiredKeys: ['read', 'create', 'change'] },
) as fc.Arbitrary<AccessRules>;

const number = fc.integer({ min: 0, max: 2 });
const numbers = fc.dictionary(fc.constantFrom(...numberNames), number);
export const data: fc.Arbitrary<Data> = fc
  .tuple(numbers, optional(fc.constantFrom(...otherIds)))
  .map(([given, other]) => ({ ...given, ...(other !== undefined && { other }) }));
const userId = fc.constantFrom(ada, bob);
const may = fc.constantFrom<Does>('read', 'change');
const groupId = fc.constantFrom(red, blue);
const email = fc.constantFrom('ada@example.org', 'bob@example.org');
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

const numberField = fc.constantFrom(...numberNames);
const field = fc.constantFrom(...fieldNames);
const where = optional(
  fc.tuple(
    field,
    fc.oneof(
      number,
      fc.record({ $gt: number }),
      fc.record({ $exists: fc.boolean() }),
      fc.record({ $ne: number }),
    ),
  ),
);
const measures = fc.uniqueArray(fc.tuple(fc.constantFrom('sum', 'avg', 'min', 'max'), field), {
  selector: ([name]) => name,
  maxLength: 3,
});
const which = fc.nat(20);
const counts = numbers.map((inc): Patch => ({ data: {}, unset: [], inc }));
const changes = fc
  .record({ data, unset: fc.subarray(fieldNames), inc: numbers })
  .map(({ data, unset, inc }) => {
    const free = unset.filter((name) => !(name in data));
    const added = Object.entries(inc).filter(([name]) => !(name in data) && !free.includes(name));
    return { data, unset: free, inc: Object.fromEntries(added) };
  });
const patches = fc.oneof(changes, counts);
export type Patch = { data: Data; unset: string[]; inc: Record<string, number> };

const operation = <Kind extends string, Parts extends object>(
  kind: Kind,
  parts: { [Name in keyof Parts]: fc.Arbitrary<Parts[Name]> },
) => fc.record<{ kind: Kind } & Parts>({ kind: fc.constant(kind), ...parts } as never);

const includes = fc.boolean();
const shown = optional(fc.subarray(fieldNames, { minLength: 1 }));
/** By words of the field `other`. */
const search = fc.option(fc.constantFrom(...otherIds), { nil: undefined, freq: 2 });
export const operations = fc.oneof(
  operation('list', {
    where,
    sort: optional(fc.tuple(fc.constantFrom('', '-'), numberField)),
    group: fc.option(groupId, { nil: undefined, freq: 3 }),
    search,
    shown,
    includes,
    /** Page by page, by cursor. */
    inPages: fc.boolean(),
  }),
  operation('count', { where, search, group: fc.option(groupId, { nil: undefined, freq: 3 }) }),
  operation('aggregate', { where, by: optional(field), measures }),
  operation('get', { which, shown, includes }),
  operation('delete', { which }),
  operation('patch', { which, patch: patches }),
  operation('put', { which, data }),
  operation('upsert', { which, isNew: fc.boolean(), data }),
  operation('create', { data, groupId: optional(groupId) }),
  operation('batch', { which, other: which, patch: patches, data, groupId: optional(groupId) }),
  operation('share', { which, userId, may }),
  operation('unshare', { which, userId }),
  operation('invite', { which, email, may }),
  operation('disinvite', { which, email }),
  operation('shares', { which }),
  /** No call: a user has shown that an address is theirs. */
  operation('prove', { userId, email }),
);
export type Operation = typeof operations extends fc.Arbitrary<infer T> ? T : never;
export type OperationOf<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>;
const callerName = fc.constantFrom(...(Object.keys(callers) as CallerName[]));
export const steps = fc.array(fc.tuple(callerName, operations), { minLength: 6, maxLength: 12 });
