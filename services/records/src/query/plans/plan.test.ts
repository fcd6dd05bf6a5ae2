import type { AccessRules } from '@backlot/contract';
import { asKey, asUser } from '@backlot/testing';
import { describe, expect, it } from '@jest/globals';
import { resolveAccess } from '../../collections/access.ts';
import type { Collection } from '../../collections/collections.ts';
import { ada } from '../../testing/test-bed.ts';
import { parseWhere } from '../../where/parse.ts';
import { parseAggregation } from '../aggregate/aggregation.ts';
import type { ListQuery } from '../list-statement.ts';
import { beginStep, type Gathering, newReport, type Plan } from '../plan.ts';
import { splitFilter } from '../selection.ts';
import { parseSort } from '../sort.ts';
import { planCount } from './count-plan.ts';
import { planGroups } from './groups-plan.ts';
import { createListPlans } from './list-plan.ts';
import { planSearch, planSearchCount } from './search-plan.ts';

const limits = { scanRows: 100_000, pageBytes: 32 * 1024 * 1024 };
const planList = createListPlans(limits, { rows: 4000, ms: 50 });

const slot = (number: number, field: string, state: 'ready' | 'building' = 'ready') => ({
  number,
  field,
  state,
  distinctShare: 0.5,
});

const collection = (changes: Partial<Collection> = {}): Collection => ({
  projectNumber: 1,
  id: 2,
  name: 'todos',
  access: 'shared',
  epoch: 7,
  slots: [slot(1, 'status'), slot(2, 'rank')],
  unique: [],
  ...changes,
});

const query = (where: object, changes: Partial<ListQuery> & { by?: string } = {}): ListQuery => {
  const { by, ...rest } = changes;
  return {
    collection: collection(),
    access: resolveAccess('shared', asKey()),
    ownerId: undefined,
    filter: splitFilter(parseWhere(JSON.stringify(where))),
    sort: parseSort(by),
    limit: 10,
    offset: 0,
    after: undefined,
    ...rest,
  };
};

const never = (): boolean => {
  throw new Error('asked how long scans took');
};

/** What would be tried one after the other, as `kind queue index,index`. */
const chain = (plan: Plan<unknown> | undefined): string[] => {
  if (!plan) return [];
  const { kind, queue, slots } = plan;
  const step = [kind, queue, ...slots.map(({ field }) => field)].join(' ');
  return [step, ...('pieces' in plan ? [] : chain(plan.next?.()))];
};

const first = <Answer>(plan: Plan<Answer>) => {
  if ('pieces' in plan) throw new Error('in pieces');
  return plan;
};
const gather = <Answer>(plan: Plan<Answer>): Gathering<Answer> => {
  if (!('pieces' in plan)) throw new Error('one statement');
  return plan.pieces.begin();
};

describe('the plan of a list', () => {
  it('is the primary key where nothing else is asked, without a queue where it is small', () => {
    expect(chain(planList(query({}), never))).toEqual(['key none', 'key index']);
    expect(chain(planList(query({}, { limit: 500 }), never))).toEqual(['key index']);
    const newer = query({ createdAt: { $gt: '2026-01-01' } });
    expect(chain(planList(newer, never))).toEqual(['key index']);
  });

  it('is one stretch of an index where that tells all, and then what would do without', () => {
    const plan = planList(query({ status: 'open' }), never);
    expect(chain(plan)).toEqual([
      'exact none status',
      'index index status',
      'index index status',
      'scan scans',
      'scan scans',
    ]);
    expect(first(plan).statement.values).toEqual([1, 2, 10, '"open"', '"open"']);
  });

  it('goes by an index with tests of what it leads to', () => {
    const more = planList(query({ status: 'open', text: 'x' }), never);
    expect(chain(more).slice(0, 2)).toEqual(['index index status', 'index index status']);
    const sorted = planList(query({ text: 'x' }, { by: '-rank' }), never);
    expect(chain(sorted)).toEqual(['index index rank', 'scan scans', 'scan scans']);
  });

  it('goes by what a rule asks of values as by the same filter', () => {
    const access = (rule: AccessRules['read'], fields?: AccessRules['fields']) =>
      resolveAccess({ read: rule, create: [], change: [], fields }, asUser(ada));
    const open = { to: ['anyone'], where: { status: 'open' } };
    const statements = (plan: Plan<unknown>) => [chain(plan), first(plan).statement];
    const filtered = planList(query({ status: 'open' }), never);
    expect(statements(planList(query({}, { access: access([open]) }), never))).toEqual(
      statements(filtered),
    );
    const twice = planList(query({ status: 'open' }, { access: access([open]) }), never);
    expect(statements(twice)).toEqual(statements(filtered));
    const own = { to: ['users'], where: { status: '$caller.id' } };
    const ofCaller = planList(query({}, { access: access([own]) }), never);
    expect(first(ofCaller).statement.values).toEqual([1, 2, 10, `"${ada}"`, `"${ada}"`]);
    const ofGroup = { ...open, to: ['shared'] };
    const tested = planList(query({}, { access: access([ofGroup]) }), never);
    expect(chain(tested)[0]).toBe('index index status');
    const slots = [slot(1, 'status'), slot(3, 'ownerId')];
    const either = query(
      {},
      { access: access(['owner', open]), collection: collection({ slots }) },
    );
    expect(chain(planList(either, never))[0]).toBe('index index ownerId status');
    const hiding = access([open], { text: { read: [] } });
    const hidden = planList(query({}, { access: hiding }), () => false);
    expect(chain(hidden)[0]).toBe('scan scans');
    const odd = planList(
      query({}, { access: access([{ ...open, where: { odd: 1 } }]) }),
      () => false,
    );
    expect([chain(odd)[0], odd.wants]).toEqual(['scan scans', ['odd']]);
  });

  it('is a scan without one, in the queue of such scans', () => {
    const odd = query({ odd: 1 });
    expect(chain(planList(odd, () => false))).toEqual(['scan scans', 'scan scans']);
    expect(chain(planList(odd, () => true))).toEqual(['scan quick-scans', 'scan quick-scans']);
    expect(planList(query({ odd: 1 }, { by: 'rank2' }), () => false).wants).toEqual([
      'odd',
      'rank2',
    ]);
  });

  it('knows no index whose fields are hidden from the caller, or that is being made', () => {
    const rules = {
      read: ['anyone'],
      create: [],
      change: [],
      fields: { salary: { read: [] } },
    };
    const hidden = query({ status: 'open' }, { access: resolveAccess(rules, asUser(ada)) });
    expect(chain(planList(hidden, () => false))[0]).toBe('scan scans');
    const building = collection({ slots: [slot(1, 'status', 'building')] });
    const early = query({ status: 'open' }, { collection: building });
    expect(chain(planList(early, () => false))[0]).toBe('scan scans');
  });

  it('reads a row for what it is: stale, unfinished, too much, or the page', () => {
    const exact = first(planList(query({ status: 'open' }), never));
    expect(exact.read(['[{}]', 't', 'an id', null, '7'])).toMatchObject({
      items: '[{}]',
      hasMore: true,
      last: { keys: [], id: 'an id' },
    });
    expect(exact.read(['[{}]', 't', 'an id', null, '8'])).toBe('stale');
    expect(exact.read([null, 't', 'an id', null, '7'])).toBe('unfinished');
    const scan = first(planList(query({ odd: 1 }), () => false));
    const row = {
      items: '[]',
      ids: [],
      sizes: [],
      more: false,
      last_id: null,
      last_keys: [],
      unfinished: false,
      exceeded: false,
    };
    expect(scan.read(row)).toMatchObject({ items: '[]', hasMore: false, last: null });
    expect(scan.read({ ...row, epoch: 8 })).toBe('stale');
    expect(scan.read({ ...row, unfinished: true })).toBe('unfinished');
    expect(scan.read({ ...row, exceeded: true })).toBe('exceeded');
  });

  it('gathers a page in pieces, and reads it by the ids that were found', () => {
    const plan = first(planList(query({ odd: 1 }, { limit: 2 }), () => false)).next?.();
    if (!plan) throw new Error('no pieces');
    const ids = [1, 2, 3].map((n) => `018f0000-0000-7000-8000-00000000000${n}`);
    const { add, end } = gather(plan);
    const piece = (...found: string[]) => ({
      next: 'further',
      looked: 50,
      kept: found.map((id) => [id, 100]),
    });
    expect(add(piece(ids[0] ?? ''))).toBe(false);
    expect(add(piece(...ids.slice(1)))).toBe(true);
    const read = first(end(true) as Plan<unknown>);
    expect(read.statement.values).toContainEqual(ids);
    expect(end(false)).toBe('exceeded');
    expect(gather(plan).end(true)).toMatchObject({ kind: 'scan' });
  });
});

describe('the plan of a count', () => {
  it('is what the writes have counted, or a count of keys', () => {
    const plan = planCount(query({}), limits, () => false);
    expect(chain(plan)).toEqual(['key index', 'key scans']);
    expect(first(plan).read({ count: 3, is_exact: true })).toEqual({ count: 3 });
    expect(first(plan).read({ count: 3, is_exact: false })).toBe('unfinished');
    const newer = query({ createdAt: { $gt: '2026-01-01' } });
    expect(chain(planCount(newer, limits, () => false))).toEqual(['key scans']);
  });

  it('goes by an index, then through the records', () => {
    const plan = planCount(query({ status: 'open' }), limits, never);
    expect(chain(plan)).toEqual(['index index status', 'scan scans']);
    expect(first(plan).read({ count: 2, unfinished: false, epoch: 8 })).toBe('stale');
    expect(first(plan).read({ count: 2, unfinished: true, epoch: 7 })).toBe('unfinished');
  });

  it('estimates where it would look through more than it may', () => {
    const { add, end } = gather(planCount(query({ odd: 1 }), limits, () => false));
    expect(end(false)).toBe('exceeded');
    add({ next: 'x', looked: 200, matching: 50 } as never);
    expect(end(true)).toEqual({ count: 50 });
    const all = gather(end(false) as Plan<unknown>);
    all.add({ next: null, looked: 1000 });
    expect(all.end(true)).toEqual({ count: 250, approximate: true });
  });
});

describe('the plan of sums', () => {
  const aggregation = parseAggregation({ group: 'kind', sum: 'price' });

  it('goes by an index, then through the records', () => {
    const plan = planGroups(query({ status: 'open' }), aggregation, limits, never);
    expect(chain(plan)).toEqual(['index index status', 'index scans status', 'scan scans']);
    const state = ['a', 2, '3', 2, null, null, null, null];
    const row = { groups: [[...state, 5]], hasLongKeys: false };
    const read = first(plan).read;
    expect(read({ ...row, epoch: 7, unfinished: false })).toEqual([{ state, distinct: 5 }]);
    expect(read({ ...row, epoch: 8, unfinished: false })).toBe('stale');
    expect(read({ ...row, epoch: 7, unfinished: true })).toBe('unfinished');
    expect(() => read({ ...row, epoch: 7, unfinished: false, hasLongKeys: true })).toThrow(
      'longer than 512 bytes',
    );
  });

  it('is a scan without one, which wants one', () => {
    const plan = planGroups(query({ odd: 1 }), aggregation, limits, () => true);
    expect([chain(plan), plan.wants]).toEqual([['scan quick-scans'], ['odd']]);
    expect(gather(plan).end(false)).toBe('exceeded');
  });
});

describe('the plan of a search', () => {
  const search = { number: 3, fields: null, state: 'ready', isFormer: false } as const;
  const searched = query({}, { collection: collection({ search }) });
  const words = { words: ['tea'], former: [] };

  it('is short first, and takes its turn among the scans where it finds much', () => {
    expect(chain(planSearch(searched, words, limits))).toEqual(['search index', 'search scans']);
    const count = planSearchCount(searched, words, limits);
    expect(chain(count)).toEqual(['search index', 'search scans']);
    expect(first(count).read({ count: 1, unfinished: false, epoch: 8 })).toBe('stale');
  });
});

describe('the report of a plan', () => {
  it('says what was tried, which index it went by and which one it wanted', () => {
    const known = collection({ slots: [slot(1, 'status'), slot(2, 'odd', 'building')] });
    const report = newReport();
    const step = { queue: 'index', slots: known.slots.slice(0, 1), wants: [] } as const;
    beginStep(report, { ...step, kind: 'exact', queue: 'none' }, known);
    report.statements = 1;
    beginStep(report, { ...step, kind: 'index' }, known);
    expect(report).toMatchObject({ kind: 'index', indexes: ['status'], tried: ['exact'] });
    expect(report.building).toEqual([]);
    report.statements = 2;
    beginStep(report, { kind: 'scan', queue: 'scans', slots: [], wants: ['odd'] }, known);
    expect(report).toMatchObject({
      kind: 'scan',
      indexes: [],
      tried: ['exact', 'index'],
      wants: ['odd'],
      building: ['odd'],
    });
  });
});
