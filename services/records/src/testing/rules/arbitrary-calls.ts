import fc from 'fast-check';
import {
  type CallerName,
  callers,
  data,
  email,
  groupId,
  may,
  number,
  numberNames,
  numbers,
  optional,
  otherIds,
  userId,
} from './arbitrary-collections.ts';
import type { Data } from './words.ts';

const fieldNames = [...numberNames, 'other', 'who'];
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
const counts = numbers.map((inc): Patch => ({ data: {}, unset: [], inc, isDeep: false }));
const changes = fc
  .record({ data, unset: fc.subarray([...fieldNames, 'at']), inc: numbers })
  .map(({ data, unset, inc }): Patch => {
    const free = unset.filter((name) => !(name in data));
    const added = Object.entries(inc).filter(([name]) => !(name in data) && !free.includes(name));
    return { data, unset: free, inc: Object.fromEntries(added), isDeep: false };
  });
const removals = fc
  .subarray([...fieldNames, 'at'], { minLength: 1 })
  .map((unset): Patch => ({ data: {}, unset, inc: {}, isDeep: false }));
const patches = fc.oneof(changes, counts, removals);
const orNull = fc.option(number, { freq: 3 });
/** Objects are merged, and null takes out. */
const deepPatches = fc
  .tuple(
    fc.dictionary(fc.constantFrom(...fieldNames), fc.constant(null), { maxKeys: 1 }),
    optional(fc.dictionary(fc.constantFrom('x', 'y', 'z'), orNull, { maxKeys: 2 })),
    changes,
  )
  .map(([gone, at, { data, unset, inc }]): Patch => {
    const set = { ...data, ...gone, ...(at !== undefined && { at }) };
    const isFree = (name: string) => !(name in set);
    const sums = Object.entries(inc).filter(([name]) => isFree(name));
    return { data: set, unset: unset.filter(isFree), inc: Object.fromEntries(sums), isDeep: true };
  });
export type Patch = {
  data: Record<string, Data[string] | Record<string, number | null> | null>;
  unset: string[];
  inc: Record<string, number>;
  isDeep: boolean;
};

const operation = <Kind extends string, Parts extends object>(
  kind: Kind,
  parts: { [Name in keyof Parts]: fc.Arbitrary<Parts[Name]> },
) => fc.record<{ kind: Kind } & Parts>({ kind: fc.constant(kind), ...parts } as never);

const includes = fc.boolean();
const shown = optional(fc.subarray(fieldNames, { minLength: 1 }));
/** By words of the field `other`. */
const search = fc.option(fc.constantFrom(...otherIds), { nil: undefined, freq: 2 });
const writesOfSeveral = operation('batch', {
  which,
  other: which,
  patch: patches,
  data,
  groupId: optional(groupId),
});
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
  operation('export', {
    where,
    group: fc.option(groupId, { nil: undefined, freq: 3 }),
    shown,
    isCsv: fc.boolean(),
  }),
  operation('aggregate', {
    where,
    by: fc.uniqueArray(field, { maxLength: 2 }),
    measures,
    distinct: optional(field),
    having: optional(fc.nat(3)),
    inOrder: fc.boolean(),
  }),
  operation('get', { which, shown, includes }),
  operation('delete', { which }),
  { weight: 3, arbitrary: operation('patch', { which, patch: fc.oneof(patches, deepPatches) }) },
  operation('put', { which, data }),
  operation('upsert', { which, isNew: fc.boolean(), data }),
  operation('create', { data, groupId: optional(groupId) }),
  { weight: 4, arbitrary: writesOfSeveral },
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
