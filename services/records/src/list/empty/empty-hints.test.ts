import type { AccessRules } from '@backlot/contract';
import { cpuWork, type FairShares, toRequester } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asOwner, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { resolveAccess } from '../../collections/access.ts';
import type { Collection } from '../../collections/collections.ts';
import { ada, bob, createTestBed, type TestBed } from '../../testing/test-bed.ts';
import { parseWhere } from '../../where/parse.ts';
import { createEmptyHints } from './empty-hints.ts';

const group = '018f0000-0000-7000-8000-000000000901';
const callers = {
  anonymous: anonymous(),
  ada: asUser(ada, { groups: [{ id: group, role: 'member' }] }),
  staff: asUser(bob, { role: 'staff' }),
  key: asKey(),
} satisfies Record<string, Identity>;

const words = fc.subarray(['anyone', 'users', 'owner', 'ownerless', 'group', 'role:staff']);
const names = ['a', 'b', 'secret', 'Secret', 'c'];
const values = fc.constantFrom<unknown>('Open', 'open', 'Done', 1, true, null, { x: 1 });
const data = fc.dictionary(fc.constantFrom(...names), values);
const records = fc.array(
  fc.record({
    ownerId: fc.constantFrom(null, ada, bob),
    groupId: fc.constantFrom(null, group),
    data,
    /** What the caller may not see of it, in the other world. */
    other: data,
  }),
  { minLength: 1, maxLength: 12 },
);
type Stored = typeof records extends fc.Arbitrary<(infer T)[]> ? T : never;
const rules = fc.record(
  {
    read: words,
    create: words,
    change: words,
    fields: fc.dictionary(fc.constantFrom('secret', 'b'), fc.record({ read: words })),
  },
  { requiredKeys: ['read', 'create', 'change'] },
) as fc.Arbitrary<AccessRules>;
const wheres = fc
  .tuple(fc.constantFrom(...names, 'sekret', 'd'), fc.constantFrom('oPEN', 'gone', 2, 'Open'))
  .map(([name, value]) => ({ [name]: value }));

const holds = (word: string, who: Identity, { ownerId, groupId }: Stored) => {
  const isUser = who.caller === 'user';
  if (word === 'anyone') return true;
  if (word === 'owner') return isUser && ownerId === who.userId;
  if (word === 'ownerless') return ownerId === null;
  if (word === 'group') return (who.groups ?? []).some(({ id }) => id === groupId);
  return isUser && (word === 'users' || word === `role:${who.role}`);
};
const allows = (allowed: AccessRules['read'] | undefined, who: Identity, record: Stored) =>
  who.caller === 'key' || !allowed || allowed.some((word) => holds(String(word), who, record));

/** The record as it is in a world that differs in nothing that the caller may see. */
const inOtherWorld = (access: AccessRules, who: Identity, record: Stored): Stored['data'] => {
  if (!allows(access.read, who, record)) return record.other;
  const isHidden = (name: string) => !allows(access.fields?.[name]?.read, who, record);
  const seen = Object.entries(record.data).filter(([name]) => !isHidden(name));
  const unseen = Object.entries(record.other).filter(([name]) => isHidden(name));
  return Object.fromEntries([...seen, ...unseen]);
};

describe('hints on empty answers', () => {
  let bed: TestBed;
  const scans = cpuWork({ places: 2, isShort: true });
  beforeAll(async () => {
    bed = await createTestBed();
    for (const status of ['Open', 'Done', 'Open', 'Done', 'Open', 'Done'])
      await bed.create('todos', { title: 'Buy milk', priority: 2, status });
    // Until a sample is remembered: on a busy machine there may be no time for one.
    for (let tries = 0; tries < 50 && !(await get(path({ prio: 2 }))).hint; tries++);
  });
  afterAll(() => bed.close());

  const path = (where: object, rest = '') =>
    `/db/todos${rest}?where=${encodeURIComponent(JSON.stringify(where))}`;
  const get = async (url: string, identity: Identity = anonymous()) => {
    const { status, body } = await bed.call('GET', url, { identity });
    expect(status).toBe(200);
    return body;
  };
  const hint = 'No record of the sample has "prio"; did you mean "priority"?';

  it('stand beside an empty list and an empty count', async () => {
    expect(await get(path({ prio: 2 }))).toEqual({
      items: [],
      hasMore: false,
      nextCursor: null,
      hint,
    });
    expect(await get(path({ prio: 2 }, '/_count'))).toEqual({ count: 0, hint });
    expect(await get(`${path({ prio: 2 })}&total=1`)).toMatchObject({ total: 0, hint });
  });

  it('stand beside no other answer', async () => {
    const answers = [
      await get(path({ priority: 2 })),
      await get(path({ priority: 2 }, '/_count')),
      await get(path({ priority: 3 })),
      await get('/db/todos?limit=0'),
      await get(`${path({ prio: 2 })}&limit=0`),
      await get(`${path({ prio: 2 })}&offset=1`),
      await get('/db/nothing'),
      await get('/db/nothing/_count'),
    ];
    for (const answer of answers) expect(answer).not.toHaveProperty('hint');
  });

  it('name collections to the owner and to keys where there is none of the name, and to nobody else', async () => {
    const none = 'There is no collection "todo"; did you mean "todos"?';
    for (const identity of [asKey(), asOwner()]) {
      expect((await get('/db/todo', identity)).hint).toBe(none);
      expect(await get('/db/todo/_count', identity)).toEqual({ count: 0, hint: none });
      expect((await get('/db/other', identity)).hint).toBe(
        'There is no collection "other"; there are "todos".',
      );
    }
    for (const identity of [anonymous(), asUser(ada), asUser(ada, { role: 'admin' })])
      for (const url of ['/db/todo', '/db/todo/_count'])
        expect(await get(url, identity)).not.toHaveProperty('hint');
    const elsewhere = asKey({ project: { ...testProject, id: 'other', number: 77 } });
    expect(await get('/db/todo', elsewhere)).not.toHaveProperty('hint');
  });

  /** As the service asks, without a pause between two samples, and with time on a busy machine. */
  const newHints = (shares: FairShares = scans, waitMs = 60_000) =>
    createEmptyHints({
      database: bed.database,
      scans: shares,
      now: bed.clock.now,
      restFactor: 0,
      waitMs,
    });
  const ask = (
    hints: ReturnType<typeof newHints>,
    collection: Collection,
    where: object,
    who: Identity,
  ) => {
    const sampled = { collection, access: resolveAccess(collection.access, who) };
    return hints.find(parseWhere(JSON.stringify(where)), sampled, { requester: toRequester(who) });
  };
  const insert = async (collection: Collection, ...documents: (Stored | object)[]) => {
    for (const document of documents) {
      const { ownerId = null, groupId = null, data = document } = document as Partial<Stored>;
      await bed.database.query(
        `INSERT INTO records (project_id, coll_id, id, owner_id, group_id, created_at, updated_at, data)
         VALUES ($1, $2, uuidv7(), $3, $4, now(), now(), $5)`,
        [collection.projectNumber, collection.id, ownerId, groupId, JSON.stringify(data)],
      );
    }
  };
  let made = 0;
  const newCollection = (access: Collection['access']): Collection => {
    made += 1;
    const id = 1000 + made;
    return {
      projectNumber: testProject.number,
      id,
      name: `c${id}`,
      access,
      epoch: 1,
      slots: [],
      unique: [],
    };
  };

  it('are the same whatever hidden fields and the records of others hold', async () => {
    let said = 0;
    await fc.assert(
      fc.asyncProperty(
        rules,
        records,
        wheres,
        fc.constantFrom(...Object.values(callers)),
        async (access, stored, where, who) => {
          const here = newCollection(access);
          const there = newCollection(access);
          await insert(here, ...stored);
          await insert(
            there,
            ...stored.map((record) => ({ ...record, data: inOtherWorld(access, who, record) })),
          );
          const hints = newHints();
          const [one, other] = [
            await ask(hints, here, where, who),
            await ask(hints, there, where, who),
          ];
          if (one !== undefined) said += 1;
          expect(other).toBe(one);
        },
      ),
      { numRuns: 150 },
    );
    expect(said).toBeGreaterThan(20);
  });

  it('name a private record’s fields to its owner, and to nobody else', async () => {
    const diary = newCollection('private');
    await insert(diary, { ownerId: ada, data: { mood: 'good' } });
    const hints = newHints();
    const missing = 'No record of the sample has "mod"; did you mean "mood"?';
    expect(await ask(hints, diary, { mod: 1 }, asUser(ada))).toBe(missing);
    expect(await ask(hints, diary, { mod: 1 }, asOwner())).toBe(missing);
    for (const who of [asUser(bob), anonymous()])
      expect(await ask(hints, diary, { mod: 1 }, who)).toBeUndefined();
  });

  it('remember a sample for five seconds, for those who may read the same', async () => {
    const notes = newCollection('shared');
    await insert(notes, { text: 'x y' });
    const hints = newHints();
    const textHint = 'No record of the sample has "txt"; did you mean "text"?';
    expect(await ask(hints, notes, { txt: 1 }, anonymous())).toBe(textHint);
    await insert(notes, { txt: 'z' });
    expect(await ask(hints, notes, { txt: 1 }, asUser(ada))).toBe(textHint);
    bed.clock.pass(5001);
    expect(await ask(hints, notes, { txt: 1 }, asUser(ada))).toBe(
      '"txt" holds strings, and was compared with numbers.',
    );
  });

  it('are left out where scans have no room, and while a collection rests', async () => {
    const notes = newCollection('shared');
    await insert(notes, { text: 'x y' });
    const full = cpuWork({ places: 1 });
    const busy = Promise.withResolvers<void>();
    const running = full.run(toRequester(asKey()), () => busy.promise);
    expect(await ask(newHints(full, 10), notes, { txt: 1 }, asKey())).toBeUndefined();
    busy.resolve();
    await running;

    const { database, clock } = bed;
    const resting = createEmptyHints({
      database,
      scans,
      now: clock.now,
      restFactor: 1e9,
      waitMs: 60_000,
    });
    expect(await ask(resting, notes, { txt: 1 }, anonymous())).toBeDefined();
    expect(await ask(resting, notes, { txt: 1 }, anonymous())).toBeDefined();
    clock.pass(5001);
    expect(await ask(resting, notes, { txt: 1 }, anonymous())).toBeUndefined();
  });
});
