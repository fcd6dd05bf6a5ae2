import { asKey, asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  conditions,
  documents,
  filters,
  paths,
  positionPaths,
  scalar,
} from '../testing/arbitrary-filters.ts';
import { holds } from '../testing/filter-model.ts';
import { getInTime } from '../testing/get-in-time.ts';
import { expectedOrder, type Item } from '../testing/order-model.ts';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';
import type { Json } from '../where/filter.ts';
import { parseWhere } from '../where/parse.ts';

const indexed = ['a', 'b', 'c', 'd', 'a.b', 'b.a', 'ownerId', 'part'];
const withText = fc
  .tuple(documents(true), fc.record({ d: scalar }, { requiredKeys: [] }))
  .map((parts): { [key: string]: Json } => Object.assign({}, ...parts));
const condition = conditions(fc.oneof(paths, positionPaths, fc.constantFrom('d', 'd')), scalar, {
  sizes: true,
});
const either = fc
  .array(fc.constantFrom('a', 'b', 'd', 'a.b'), { minLength: 2, maxLength: 3 })
  .chain((names) => fc.tuple(...names.map((name) => scalar.map((value) => ({ [name]: value })))))
  .map(($or) => ({ $or }));
const queries = fc.record({
  where: fc.oneof({ weight: 3, arbitrary: filters(condition) }, { weight: 1, arbitrary: either }),
  sort: fc.oneof(
    fc.constantFrom('id', '-id', 'a', '-a', 'd', '-d', '-b', 'ownerId', 'a.b'),
    fc.constantFrom('-d,a', 'd,-b', 'd,-createdAt', '-a.b', 'a,-d'),
  ),
});
type Query = typeof queries extends fc.Arbitrary<infer T> ? T : never;

/** One that each run chooses anew, and that a failure shows. */
const seed = Date.now() % 1_000_000;
const sample = <T>(arbitrary: fc.Arbitrary<T>, numRuns: number) =>
  fc.sample(arbitrary, { seed, numRuns });

const stillRecords = 2000;
const atOnce = 500;

describe(`answers while slots are built and replaced (seed ${seed})`, () => {
  let bed: TestBed;
  let bySlots = 0;
  const changed = [0, 0];
  beforeAll(async () => {
    bed = await createTestBed(
      {},
      {},
      {
        onStatement: (text) => {
          if (/AS epoch FROM/.test(text)) bySlots += 1;
        },
      },
    );
  });
  afterAll(() => bed.close());

  const identity = asKey();
  const ok = async (...call: Parameters<TestBed['call']>) => {
    const { status, body } = await bed.call(...call);
    if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`);
    return body;
  };
  const pin = (indexes: readonly string[]) =>
    ok('PUT', `/platform/projects/${testProject.id}/collections/mixed`, {
      ...{ identity: asOwner(), body: { access: 'shared', indexes } },
    });
  const listIndexes = async (): Promise<{ field: string; state: string }[]> => {
    const { items } = await ok('GET', `/platform/projects/${testProject.id}/collections`, {
      identity: asOwner(),
    });
    return items[0].indexes;
  };
  const untilReady = () =>
    until(async () => (await listIndexes()).every(({ state }) => state === 'ready'), {
      timeoutMs: 60_000,
    });

  const list = async (where: object, sort: string): Promise<Item[]> => {
    const items: Item[] = [];
    let cursor: string | null = null;
    do {
      const search = new URLSearchParams({ where: JSON.stringify(where), sort, limit: '1000' });
      if (cursor) search.set('cursor', cursor);
      const page = await getInTime(bed, `/db/mixed?${search}`, identity);
      items.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor);
    return items;
  };
  const expected = (items: readonly Item[], { where, sort }: Query): string[] => {
    const filter = parseWhere(JSON.stringify(where));
    const found = items.filter((item) => holds(filter, item));
    return expectedOrder(found, sort);
  };
  const ids = (items: readonly Item[]) => items.map(({ id }) => id);

  const write = async (part: string, contents: readonly object[]): Promise<void> => {
    for (let i = 0; i < contents.length; i += atOnce) {
      const create = contents.slice(i, i + atOnce).map((data) => ({ data: { ...data, part } }));
      const author = [asUser(ada), asUser(bob), identity][(i / atOnce) % 3];
      await ok('POST', '/db/mixed/_batch', { identity: author ?? identity, body: { create } });
    }
  };

  /** Creates, changes, replaces and deletes at random, until it is told to end. */
  const change = async (writer: number, isOver: () => boolean): Promise<void> => {
    const part = `moving${writer}`;
    const contents = sample(withText, 200 + writer);
    const own: string[] = [];
    for (let changes = 0; !isOver(); changes++) {
      changed[writer] = changes;
      const data = { ...contents[changes % contents.length], part };
      const made = await ok('POST', '/db/mixed', { identity, body: { data } });
      own.push(made.id);
      const at = (n: number) => `/db/mixed/${own[(changes * 7 + n) % own.length]}`;
      const next = contents[(changes * 3 + 1) % contents.length];
      await ok('PATCH', at(0), { identity, body: { data: next } });
      await ok('PATCH', at(2), { identity, body: { unset: ['b', 'd'] } });
      await ok('PUT', at(1), { identity, body: { data: { ...next, part } } });
      await ok('POST', '/db/mixed/_batch', {
        identity,
        body: { create: [{ data }], update: [{ id: made.id, data: { d: changes } }] },
      });
      if (own.length > 60) await ok('DELETE', `/db/mixed/${own.shift()}`, { identity });
    }
  };

  it('are those of the model, in its order, and so are those of all records afterwards', async () => {
    await write('still', sample(withText, stillRecords));
    const still = await list({ part: 'still' }, 'id');
    expect(still).toHaveLength(stillRecords);
    const asked = sample(queries, 90);
    let isOver = false;
    const changes = changed.map((_, writer) => change(writer, () => isOver));
    const hasSeenEnough = () => bySlots > 20 && changed.every((times) => times > 5);
    const assign = async () => {
      for (let i = 0; !isOver; i++) {
        await pin(indexed.filter((_, n) => (n + i) % 4 !== 0));
        // Every second time the slots are replaced before they are filled.
        if (i % 2 === 1) await untilReady();
      }
    };
    const ask = async () => {
      for (let i = 0; i < asked.length || !hasSeenEnough(); i++) {
        const query = asked[i % asked.length];
        if (!query) return;
        const where = { $and: [{ part: 'still' }, query.where] };
        expect([query, ids(await list(where, query.sort))]).toEqual([
          query,
          expected(still, query),
        ]);
      }
    };
    const assigning = assign();
    await ask().finally(() => {
      isOver = true;
    });
    await Promise.all([assigning, ...changes]);

    const all = await list({}, 'id');
    const check = async () => {
      for (const query of asked.slice(0, 40)) {
        expect([query, ids(await list(query.where, query.sort))]).toEqual([
          query,
          expected(all, query),
        ]);
      }
    };
    await pin(indexed.slice(0, 6));
    await untilReady();
    bySlots = 0;
    await check();
    expect(bySlots).toBeGreaterThan(5);
    await pin(['z1', 'z2', 'z3', 'z4', 'z5', 'z6']);
    await untilReady();
    await list({}, 'd');
    bySlots = 0;
    await check();
    expect(bySlots).toBe(0);
  }, 300_000);
});
