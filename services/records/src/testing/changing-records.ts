import { asKey, asUser } from '@backlot/testing';
import fc from 'fast-check';
import type { Json } from '../where/filter.ts';
import { holds } from '../where/holds.ts';
import { parseWhere } from '../where/parse.ts';
import {
  conditions,
  documents,
  filters,
  paths,
  positionPaths,
  scalar,
} from './arbitrary-filters.ts';
import { getInTime } from './get-in-time.ts';
import { expectedOrder, type Item } from './order-model.ts';
import { ada, bob, type TestBed } from './test-bed.ts';

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
export type Query = typeof queries extends fc.Arbitrary<infer T> ? T : never;

const atOnce = 500;
const identity = asKey();

/** Records of the field `part` "still", which stay as they are, between others that change. */
export interface ChangingRecords {
  /** The body of an answer. @throws Error where it is a refusal */
  ok(...call: Parameters<TestBed['call']>): Promise<Awaited<ReturnType<TestBed['call']>>['body']>;
  /** Writes the still ones and returns them. */
  fill(count: number): Promise<Item[]>;
  queries(count: number): Query[];
  /** All pages of it. */
  list(where: object, sort: string, limit?: number): Promise<Item[]>;
  count(where: object): Promise<number>;
  /** Creates, changes, replaces and deletes others at random, until it is told to end. */
  change(writer: number, isOver: () => boolean): Promise<void>;
  /** How often each writer has done so. */
  changed: readonly number[];
}

/** The ids that a model of filter and sort finds among the items. */
export const expectedIds = (items: readonly Item[], { where, sort }: Query): string[] => {
  const filter = parseWhere(JSON.stringify(where));
  return expectedOrder(
    items.filter((item) => holds(filter, item)),
    sort,
  );
};

export const toIds = (items: readonly Item[]): string[] => items.map(({ id }) => id);

/** @param seed of what is random */
export const createChangingRecords = (
  bed: TestBed,
  name: string,
  seed: number,
  writers: number,
): ChangingRecords => {
  const sample = <T>(arbitrary: fc.Arbitrary<T>, numRuns: number) =>
    fc.sample(arbitrary, { seed, numRuns });
  const changed = Array.from({ length: writers }, () => 0);

  const ok: ChangingRecords['ok'] = async (...call) => {
    const { status, body } = await bed.call(...call);
    if (status >= 300) throw new Error(`${call[0]} ${call[1]}: ${status} ${JSON.stringify(body)}`);
    return body;
  };

  const list: ChangingRecords['list'] = async (where, sort, limit = 1000) => {
    const items: Item[] = [];
    let cursor: string | null = null;
    do {
      const search = new URLSearchParams({ where: JSON.stringify(where), sort, limit: `${limit}` });
      if (cursor) search.set('cursor', cursor);
      const page = await getInTime(bed, `/db/${name}?${search}`, identity);
      items.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor);
    return items;
  };

  return {
    ok,
    list,
    changed,
    queries: (count) => sample(queries, count),

    async count(where) {
      const search = new URLSearchParams({ where: JSON.stringify(where) });
      return (await getInTime(bed, `/db/${name}/_count?${search}`, identity)).count;
    },

    async fill(count) {
      const contents = sample(withText, count);
      for (let i = 0; i < count; i += atOnce) {
        const create = contents
          .slice(i, i + atOnce)
          .map((data) => ({ data: { ...data, part: 'still' } }));
        const author = [asUser(ada), asUser(bob), identity][(i / atOnce) % 3] ?? identity;
        await ok('POST', `/db/${name}/_batch`, { identity: author, body: { create } });
      }
      return list({ part: 'still' }, 'id');
    },

    async change(writer, isOver) {
      const part = `moving${writer}`;
      const contents = sample(withText, 200 + writer);
      const own: string[] = [];
      for (let changes = 0; !isOver(); changes++) {
        changed[writer] = changes;
        const data = { ...contents[changes % contents.length], part };
        const made = await ok('POST', `/db/${name}`, { identity, body: { data } });
        own.push(made.id);
        const at = (n: number) => `/db/${name}/${own[(changes * 7 + n) % own.length]}`;
        const next = contents[(changes * 3 + 1) % contents.length];
        await ok('PATCH', at(0), { identity, body: { data: next } });
        await ok('PATCH', at(2), { identity, body: { unset: ['b', 'd'] } });
        await ok('PUT', at(1), { identity, body: { data: { ...next, part } } });
        await ok('POST', `/db/${name}/_batch`, {
          identity,
          body: { create: [{ data }], update: [{ id: made.id, data: { d: changes } }] },
        });
        if (own.length > 60) await ok('DELETE', `/db/${name}/${own.shift()}`, { identity });
      }
    },
  };
};
