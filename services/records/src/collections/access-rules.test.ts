import type { AccessRules, FieldRules } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asOwner, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { V7Generator } from 'uuidv7';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

type Data = Record<string, number>;
type Does = 'read' | 'change';

interface Stored {
  id: string;
  ownerId: string | null;
  groupId: string | null;
  shares: { userId: string; may: Does }[];
  data: Data;
}

const [red, blue] = [
  '018f0000-0000-7000-8000-000000000901',
  '018f0000-0000-7000-8000-000000000902',
];
const callers = {
  anonymous: anonymous(),
  ada: asUser(ada, { groups: [{ id: red, role: 'member' }] }),
  bob: asUser(bob),
  staff: asUser(bob, { role: 'staff', groups: [{ id: blue, role: 'member' }] }),
  key: asKey(),
} satisfies Record<string, Identity>;
type CallerName = keyof typeof callers;

/** The rules in a few lines, as docs/api.md has them. */
const isOwn = ({ caller }: Identity) => caller === 'key';
const holds = (word: string, who: Identity, record: Stored, does: Does): boolean => {
  const isUser = who.caller === 'user';
  switch (word) {
    case 'anyone':
      return true;
    case 'users':
      return isUser;
    case 'owner':
      return isUser && record.ownerId === who.userId;
    case 'ownerless':
      return record.ownerId === null;
    case 'group':
      return (who.groups ?? []).some(({ id }) => id === record.groupId);
    case 'shared':
      return record.shares.some(
        ({ userId, may }) => userId === who.userId && (does === 'read' || may === 'change'),
      );
    default:
      return isUser && word === `role:${who.role ?? 'user'}`;
  }
};
const allows = (
  words: readonly string[] | undefined,
  who: Identity,
  record: Stored,
  does: Does = 'change',
) => isOwn(who) || words === undefined || words.some((word) => holds(word, who, record, does));

/** Whether there could be a record for which a word holds. */
const couldAllow = (words: readonly string[] | undefined, who: Identity): boolean => {
  const mine = { ownerId: who.userId, groupId: who.groups?.[0]?.id ?? 'none' };
  const shares = [{ userId: who.userId ?? '', may: 'change' as const }];
  const isUser = who.caller === 'user';
  const friendly = { id: '', data: {}, ...mine, shares: isUser ? shares : [] };
  return allows(words, who, friendly) || allows(words, who, { ...friendly, ownerId: null });
};

const canRead = (rules: AccessRules, who: Identity, record: Stored) =>
  allows(rules.read, who, record, 'read');
const can = (rules: AccessRules, action: 'change' | 'delete', who: Identity, record: Stored) =>
  canRead(rules, who, record) && allows(rules[action] ?? rules.change, who, record);
const sees = (rules: AccessRules, who: Identity, record: Stored, field: string) =>
  allows(rules.fields?.[field]?.read, who, record, 'read');
const changes = (rules: AccessRules, who: Identity, record: Stored, field: string) =>
  sees(rules, who, record, field) && allows(rules.fields?.[field]?.change, who, record);
const seen = (rules: AccessRules, who: Identity, record: Stored): Data =>
  Object.fromEntries(
    Object.entries(record.data).filter(([field]) => sees(rules, who, record, field)),
  );

const words = fc.subarray([
  ...['anyone', 'users', 'owner', 'ownerless', 'group', 'shared', 'role:staff'],
]);
const rareWords = fc.oneof(words, fc.subarray(['owner', 'group', 'shared', 'role:staff']));
const wordsForNew = fc.subarray(['anyone', 'users', 'role:staff']);
const fieldNames = ['a', 'b', 'c'];
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const fieldRules: fc.Arbitrary<FieldRules> = fc
  .record({ read: rareWords, create: wordsForNew, change: rareWords }, { requiredKeys: [] })
  .filter((rules) => Object.keys(rules).length > 0);
const rules = fc.record(
  {
    read: fc.oneof(rareWords, fc.constant(['anyone'])),
    create: wordsForNew,
    change: rareWords,
    delete: rareWords,
    fields: fc.dictionary(fc.constantFrom('a', 'b'), fieldRules),
  },
  { requiredKeys: ['read', 'create', 'change'] },
) as fc.Arbitrary<AccessRules>;

const data: fc.Arbitrary<Data> = fc.dictionary(
  fc.constantFrom(...fieldNames),
  fc.integer({ min: 0, max: 2 }),
);
const stored = fc.record({
  ownerId: fc.constantFrom(null, ada, bob),
  groupId: fc.constantFrom(null, red, blue),
  shares: fc.uniqueArray(
    fc.record({
      userId: fc.constantFrom(ada, bob),
      may: fc.constantFrom<Does>('read', 'change'),
    }),
    { selector: ({ userId }) => userId, maxLength: 2 },
  ),
  data,
});

const field = fc.constantFrom(...fieldNames);
const number = fc.integer({ min: 0, max: 2 });
const conditions = fc.oneof(
  number,
  fc.record({ $gt: number }),
  fc.record({ $exists: fc.boolean() }),
  fc.record({ $ne: number }),
);
const which = fc.nat(20);
const patches = fc
  .record({ data, unset: fc.subarray(fieldNames), inc: data })
  .map(({ data, unset, inc }) => {
    const free = unset.filter((name) => !(name in data));
    const added = Object.entries(inc).filter(([name]) => !(name in data) && !free.includes(name));
    return { data, unset: free, inc: Object.fromEntries(added) };
  });
type Patch = { data: Data; unset: string[]; inc: Data };

const operations = fc.oneof(
  fc.record({
    kind: fc.constantFrom('list' as const, 'count' as const),
    where: optional(fc.tuple(field, conditions)),
    sort: optional(fc.tuple(fc.constantFrom('', '-'), field)),
  }),
  fc.record({ kind: fc.constant('get' as const), which }),
  fc.record({ kind: fc.constant('delete' as const), which }),
  fc.record({ kind: fc.constant('patch' as const), which, patch: patches }),
  fc.record({ kind: fc.constant('put' as const), which, data }),
  fc.record({ kind: fc.constant('create' as const), data }),
  fc.record({ kind: fc.constant('batch' as const), which, other: which, patch: patches, data }),
);
type Operation = typeof operations extends fc.Arbitrary<infer T> ? T : never;
const steps = fc.array(
  fc.tuple(fc.constantFrom(...(Object.keys(callers) as CallerName[])), operations),
  { minLength: 6, maxLength: 12 },
);

type Answer = { status: number; body?: unknown };
const ok = (body: unknown): Answer => ({ status: 200, body });
const missing: Answer = { status: 404 };

class Model {
  readonly #rules: AccessRules;
  records: Stored[];

  constructor(rules: AccessRules, records: Stored[]) {
    this.#rules = rules;
    this.records = records;
  }

  pick(index: number): Stored | undefined {
    return this.records[index % Math.max(1, this.records.length)];
  }

  #refused(who: Identity): Answer {
    return { status: who.caller === 'anonymous' ? 401 : 403 };
  }

  /** Strangers for whom no record could do are asked to sign in, whatever there is. */
  #shutsOut(who: Identity, action: 'read' | 'change' | 'delete'): boolean {
    const { read, change, delete: remove = change } = this.#rules;
    const words = { read, change, delete: remove }[action];
    return who.caller === 'anonymous' && !(couldAllow(words, who) && couldAllow(read, who));
  }

  #show(who: Identity, record: Stored): Data {
    return seen(this.#rules, who, record);
  }

  #refusal(who: Identity, action: 'change' | 'delete', record: Stored): Answer | undefined {
    if (!canRead(this.#rules, who, record)) return missing;
    return can(this.#rules, action, who, record) ? undefined : this.#refused(who);
  }

  /** Of a field that is given a value, taken out (undefined) or added to. */
  #mayChange(who: Identity, record: Stored, name: string, value: number | undefined): boolean {
    if (changes(this.#rules, who, record, name)) return true;
    return sees(this.#rules, who, record, name) && record.data[name] === value;
  }

  #patched(who: Identity, record: Stored, { data, unset, inc }: Patch): Data | undefined {
    const fields = [
      ...Object.entries(data).map(([name, value]) => [name, value] as const),
      ...unset.map((name) => [name, undefined] as const),
    ];
    if (fields.some(([name, value]) => !this.#mayChange(who, record, name, value)))
      return undefined;
    if (Object.keys(inc).some((name) => !changes(this.#rules, who, record, name))) return undefined;
    const sums = Object.entries(inc).map(
      ([name, by]) => [name, (record.data[name] ?? 0) + by] as const,
    );
    const merged: Data = { ...record.data, ...data, ...Object.fromEntries(sums) };
    return Object.fromEntries(Object.entries(merged).filter(([name]) => !unset.includes(name)));
  }

  #mayGive(who: Identity, data: Data): boolean {
    const newRecord = { ...{ id: '', groupId: null, shares: [], data: {} }, ownerId: who.userId };
    return Object.keys(data).every((name) => {
      const { create, change } = this.#rules.fields?.[name] ?? {};
      return allows(create ?? change, who, newRecord);
    });
  }

  create(who: Identity, data: Data): Answer {
    const nobodys = { ...{ id: '', groupId: null, shares: [], data: {} }, ownerId: null };
    if (!allows(this.#rules.create, who, nobodys) || !this.#mayGive(who, data))
      return this.#refused(who);
    return { status: 201, body: data };
  }

  run(who: Identity, operation: Operation): Answer {
    switch (operation.kind) {
      case 'list':
      case 'count':
        return this.#list(who, operation);
      case 'create':
        return this.create(who, operation.data);
      case 'batch':
        return this.#batch(who, operation);
      default:
        return this.#single(who, this.pick(operation.which), operation);
    }
  }

  #list(who: Identity, { kind, where, sort }: Extract<Operation, { where?: unknown }>): Answer {
    if (this.#shutsOut(who, 'read')) return { status: 401 };
    const asked = [where?.[0], kind === 'list' ? sort?.[1] : undefined];
    const isHidden = (name: string | undefined) =>
      name !== undefined && !couldAllow(this.#rules.fields?.[name]?.read, who);
    if (asked.some(isHidden)) return this.#refused(who);
    const shown = this.records
      .filter((record) => canRead(this.#rules, who, record))
      .map((record) => ({ id: record.id, data: this.#show(who, record) }))
      .filter(({ data }) => !where || this.#passes(data[where[0]], where[1]));
    if (kind === 'count') return ok(shown.length);
    const [sign, name] = sort ?? ['-', undefined];
    const key = ({ data }: { data: Data }) => (name === undefined ? 0 : (data[name] ?? -1));
    const inOrder = shown.sort((a, b) => key(a) - key(b) || (a.id < b.id ? -1 : 1));
    return ok((sign === '-' ? inOrder.reverse() : inOrder).map(({ data }) => data));
  }

  #passes(value: number | undefined, condition: unknown): boolean {
    if (typeof condition === 'number') return value === condition;
    const { $gt, $exists, $ne } = condition as Record<string, number | boolean>;
    if ($gt !== undefined) return value !== undefined && value > Number($gt);
    if ($exists !== undefined) return (value !== undefined) === $exists;
    return value !== $ne;
  }

  #single(
    who: Identity,
    record: Stored | undefined,
    operation: Extract<Operation, { kind: 'get' | 'delete' | 'patch' | 'put' }>,
  ): Answer {
    if (operation.kind === 'get') {
      if (this.#shutsOut(who, 'read')) return { status: 401 };
      return record && canRead(this.#rules, who, record) ? ok(this.#show(who, record)) : missing;
    }
    const action = operation.kind === 'delete' ? 'delete' : 'change';
    if (this.#shutsOut(who, action)) return { status: 401 };
    if (!record) return missing;
    const refusal = this.#refusal(who, action, record);
    if (refusal) return refusal;
    if (operation.kind === 'delete') {
      this.records = this.records.filter((other) => other !== record);
      return { status: 200 };
    }
    const changed =
      operation.kind === 'patch'
        ? this.#patched(who, record, operation.patch)
        : this.#replaced(who, record, operation.data);
    if (!changed) return this.#refused(who);
    record.data = changed;
    return ok(this.#show(who, record));
  }

  #replaced(who: Identity, record: Stored, data: Data): Data | undefined {
    const mayChange = ([name, value]: [string, number]) =>
      this.#mayChange(who, record, name, value);
    if (!Object.entries(data).every(mayChange)) return undefined;
    const kept = Object.entries(record.data).filter(
      ([name]) => !changes(this.#rules, who, record, name),
    );
    return { ...data, ...Object.fromEntries(kept) };
  }

  #batch(
    who: Identity,
    { which, other, patch, data }: Extract<Operation, { kind: 'batch' }>,
  ): Answer {
    const updated = this.pick(which);
    const deleted = this.pick(other);
    if (!updated || !deleted || updated === deleted) return { status: 400 };
    const made = this.create(who, data);
    if (made.status !== 201) return made;
    if (this.#shutsOut(who, 'change') || this.#shutsOut(who, 'delete')) return { status: 401 };
    const refusal = this.#refusal(who, 'change', updated) ?? this.#refusal(who, 'delete', deleted);
    if (refusal) return refusal;
    const changed = this.#patched(who, updated, patch);
    if (!changed) return this.#refused(who);
    updated.data = changed;
    this.records = this.records.filter((record) => record !== deleted);
    return { status: 200 };
  }
}

describe('rules in words', () => {
  let bed: TestBed;
  let projects = 7000;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const insert = async (project: number, records: readonly Stored[]) => {
    await bed.database.query(
      `INSERT INTO records (project_id, coll_id, id, owner_id, group_id, created_at, updated_at, data)
       SELECT $1, 1, id, owner_id, group_id, now(), now(), data
       FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::jsonb[]) made(id, owner_id, group_id, data)`,
      [
        project,
        records.map(({ id }) => id),
        records.map(({ ownerId }) => ownerId),
        records.map(({ groupId }) => groupId),
        records.map(({ data }) => JSON.stringify(data)),
      ],
    );
    await bed.database.query(
      'INSERT INTO count_delta (project_id, coll_id, d, bytes) VALUES ($1, 1, $2, 0)',
      [project, records.length],
    );
    const shares = records.flatMap(({ id, shares }) => shares.map((share) => ({ id, ...share })));
    await bed.database.query(
      `INSERT INTO shares SELECT $1, 1, record, "user", may, now() FROM unnest($2::uuid[], $3::uuid[], $4::text[]) s(record, "user", may)`,
      [
        project,
        shares.map(({ id }) => id),
        shares.map(({ userId }) => userId),
        shares.map(({ may }) => may),
      ],
    );
  };

  const ownFields = new Set(['id', 'ownerId', 'groupId', 'createdAt', 'updatedAt']);
  const dataOf = (record: object) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => !ownFields.has(name)));

  const send = async (identity: Identity, model: Model, operation: Operation): Promise<Answer> => {
    const call = async (method: string, path: string, body?: object) =>
      await bed.call(method, `/db/things${path}`, { identity, ...(body && { body }) });
    switch (operation.kind) {
      case 'list':
      case 'count': {
        const { kind, where, sort } = operation;
        const query = new URLSearchParams();
        if (where) query.set('where', JSON.stringify({ [where[0]]: where[1] }));
        if (kind === 'list' && sort) query.set('sort', sort.join(''));
        const { status, body } = await call('GET', `${kind === 'count' ? '/_count' : ''}?${query}`);
        if (status !== 200) return { status };
        return ok(kind === 'count' ? body.count : body.items.map(dataOf));
      }
      case 'create': {
        const { status, body } = await call('POST', '', { data: operation.data });
        if (status !== 201) return { status };
        const { id, ownerId } = body;
        const made = { id, ownerId, groupId: null, shares: [], data: operation.data };
        model.records.push(made);
        return { status, body: dataOf(body) };
      }
      case 'batch': {
        const { which, other, patch, data } = operation;
        const [updated, deleted] = [model.pick(which)?.id, model.pick(other)?.id];
        const batch = {
          create: [{ data }],
          update: updated ? [{ id: updated, ...patch }] : [{}],
          delete: [deleted],
        };
        const { status, body } = await call('POST', '/_batch', batch);
        if (status === 200) {
          const ownerId = identity.caller === 'user' ? identity.userId : null;
          const { id } = body.create[0];
          model.records.push({ id, ownerId, groupId: null, shares: [], data });
        }
        return { status };
      }
      default: {
        const path = `/${model.pick(operation.which)?.id ?? 'none'}`;
        if (operation.kind === 'get' || operation.kind === 'delete') {
          const { status, body } = await call(operation.kind.toUpperCase(), path);
          return status === 200 && operation.kind === 'get' ? ok(dataOf(body)) : { status };
        }
        const sent = operation.kind === 'patch' ? operation.patch : { data: operation.data };
        const { status, body } = await call(operation.kind.toUpperCase(), path, sent);
        return status === 200 ? ok(dataOf(body)) : { status };
      }
    }
  };

  it('are what the model says: no leak, no refusal too much, no answer by a hidden field', async () => {
    await fc.assert(
      fc.asyncProperty(
        rules,
        fc.array(stored, { minLength: 2, maxLength: 5 }),
        steps,
        async (access, contents, planned) => {
          projects += 1;
          const project = { ...testProject, id: `p${projects}`, number: projects };
          const path = `/platform/projects/${project.id}/collections/things`;
          const set = await bed.call('PUT', path, {
            identity: asOwner({ project }),
            body: { access },
          });
          expect(set).toMatchObject({ status: 200, body: { access } });
          const ids = new V7Generator();
          const records = contents.map((content) => ({
            ...{ ...content, data: { ...content.data } },
            id: ids.generate().toString(),
          }));
          await insert(project.number, records);
          const model = new Model(access, records);
          for (const [name, operation] of planned) {
            const identity = { ...callers[name], project };
            // What is made meanwhile is not there for the model.
            const before = structuredClone(model.records);
            const answer = await send(identity, model, operation);
            const made = model.records.slice(before.length);
            model.records = model.records.slice(0, before.length);
            const expected = model.run(identity, operation);
            model.records.push(...made);
            expect([name, operation, answer]).toEqual([name, operation, expected]);
          }
        },
      ),
      { numRuns: 40 },
    );
  }, 120_000);
});
