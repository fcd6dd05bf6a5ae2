import {
  asOwner,
  asUser,
  findOtherNodes,
  type OtherNodes,
  testProject,
  until,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createQuota, type Quota } from './record/quota/quota.ts';
import { readTotals } from './record/quota/totals.ts';
import {
  access,
  type Call,
  callsOn,
  collectionsPath,
  ownersCalls,
  recordCount,
} from './testing/calls.ts';
import { ada, bob, createTestBed, type TestBed } from './testing/test-bed.ts';

/** Without anything beside the records, and with all that there is. */
const names = ['plain', 'rich'] as const;
type Name = (typeof names)[number];
const limits = {
  maxBytes: 100_000,
  perUser: 10_000,
  perUserPerHour: 10_000,
  perAddressPerHour: 10_000,
};
const rich = { unique: ['code', ['code', 'ownerId']], search: true, indexes: ['n'], limits };

/** On PostgreSQL alone no node is away, and all answers are the usual ones. */
describe('while the other nodes of a cluster are away', () => {
  let bed: TestBed;
  let others: OtherNodes;
  let quota: Quota;

  const call = ({ method, path, identity = asUser(ada), ...request }: Call, number: number) => {
    const project = { ...testProject, number };
    return bed.call(method, path, { ...request, identity: { ...identity, project } });
  };

  const findCollection = async (number: number, wanted: string) => {
    const list = { what: '', method: 'GET', path: collectionsPath, identity: asOwner() };
    const { items } = (await call(list, number)).body;
    return items.find(({ name }: { name: string }) => name === wanted);
  };

  const createCollection = async (number: number, name: Name) => {
    const body = { access, ...(name === 'rich' && rich) };
    const path = `${collectionsPath}/${name}`;
    await call({ what: '', method: 'PUT', path, body, identity: asOwner() }, number);
    const isReady = async () => {
      const { unique, search, indexes } = await findCollection(number, name);
      const parts: { state: string }[] = [...unique, ...indexes, ...(search ? [search] : [])];
      return parts.every(({ state }) => state === 'ready');
    };
    await until(isReady, { what: 'what is kept beside the records' });
  };

  const createRecords = async (number: number, name: Name, suffix: string): Promise<string[]> => {
    const create = Array.from({ length: recordCount }, (_, i) => ({
      data: { code: `${i} ${suffix}`, n: 1, text: 'words' },
    }));
    const path = `/db/${name}/_batch`;
    const { body } = await call({ what: '', method: 'POST', path, body: { create } }, number);
    const ids = body.create.map(({ id }: { id: string }) => id);
    for (const id of ids.slice(10)) {
      const share = { path: `/db/${name}/${id}/_shares`, body: { userId: bob, may: 'read' } };
      await call({ what: '', method: 'PUT', ...share }, number);
    }
    return ids;
  };

  const answers = async (number: number, calls: readonly Call[]) => {
    const statuses: Record<string, number> = {};
    for (const one of calls) statuses[one.what] = (await call(one, number)).status;
    return statuses;
  };

  /** What the calls answer on each collection, of which the records are there already. */
  const prepare = async (number: number, suffix: string) => {
    const calls = new Map<Name, Call[]>();
    for (const name of names) {
      const onRecords = callsOn(name, suffix, await createRecords(number, name, suffix));
      const words = { what: 'words', method: 'GET', path: '/db/rich?search=words' };
      const counted = { ...words, what: 'count of words', path: '/db/rich/_count?search=words' };
      const searches = name === 'rich' ? [words, counted] : [];
      calls.set(name, [...onRecords, ...searches, ...ownersCalls(name, `${name}_${suffix}`)]);
    }
    return (name: Name) => answers(number, calls.get(name) ?? []);
  };

  const own = testProject.number;
  const before: Partial<Record<Name, Record<string, number>>> = {};
  let during: (name: Name) => Promise<Record<string, number>>;
  let elsewhere: (name: Name) => Promise<Record<string, number>>;

  beforeAll(async () => {
    bed = await createTestBed();
    others = await findOtherNodes(bed.databaseUrl, 'records.records', own);
    for (const number of [own, others.project])
      for (const name of names) await createCollection(number, name);
    const usual = await prepare(own, 'before');
    for (const name of names) before[name] = await usual(name);
    during = await prepare(own, 'during');
    elsewhere = await prepare(others.project, 'during');
    const unlimited = { records: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER };
    const limits = { project: unlimited, owner: unlimited };
    quota = createQuota({ database: bed.database, limits, now: bed.clock.now });
    await quota.totals(testProject);
    await others.leave();
  });
  afterAll(async () => {
    await others?.comeBack();
    await bed.close();
  });

  it.each(names)('all calls on a %s collection answer as before', async (name) => {
    const refused = Object.entries(before[name] ?? {}).filter(([, status]) => status >= 400);
    expect(refused).toEqual([]);
    expect(await during(name)).toEqual(before[name]);
  });

  it.each(names)('all calls on a %s collection of a project on those are 503', async (name) => {
    const expected = Object.entries(before[name] ?? {}).map(([what, status]) => [
      what,
      others.count > 0 ? 503 : status,
    ]);
    expect(await elsewhere(name)).toEqual(Object.fromEntries(expected));
  });

  it('what the projects on those had still counts in the sum of their owner', async () => {
    const totals = (number: number) => readTotals(bed.database, { ...testProject, number });
    const { project, owner } = await quota.totals(testProject);
    await others.comeBack();
    const elsewhere = await totals(others.project);
    expect(elsewhere.project.records).toBeGreaterThan(0);
    expect(owner).toEqual({
      records: project.records + elsewhere.project.records,
      bytes: project.bytes + elsewhere.project.bytes,
    });
  });

  it('they answer again once the nodes are back', async () => {
    await others.comeBack();
    const found = await until(() => findCollection(others.project, 'plain'));
    expect(found.name).toBe('plain');
  });
});
