import { asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { V7Generator } from 'uuidv7';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

describe('groups of several fields and of times', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  let collections = 0;
  const fill = async (rows: object[]) => {
    const name = `g${++collections}`;
    for (let start = 0; start < rows.length; start += 500) {
      const create = rows.slice(start, start + 500).map((data) => ({ data }));
      const { status } = await bed.call('POST', `/db/${name}/_batch`, {
        identity: asUser(ada),
        body: { create },
      });
      expect(status).toBe(200);
    }
    return name;
  };
  const ask = (collection: string, query: Record<string, string>, identity = asUser(ada)) =>
    bed.call('GET', `/db/${collection}/_aggregate?${new URLSearchParams(query)}`, { identity });
  const findGroups = async (collection: string, query: Record<string, string>) => {
    // On a busy machine a scan may need more than the second that it has.
    const { status, body } = await until(async () => {
      const answer = await ask(collection, query);
      return answer.status !== 422 && answer;
    });
    expect([status, body.error]).toEqual([200, undefined]);
    return body.groups;
  };

  it('have the values of up to three fields, in their order', async () => {
    const name = await fill([
      { a: 1, b: 'x' },
      { a: 1, b: 'x' },
      { a: 1, b: null },
      { a: 1 },
      { a: 2, b: 'x', c: true },
    ]);
    expect(await findGroups(name, { group: 'a,b', sum: 'a' })).toEqual([
      { group: [1, 'x'], count: 2, sum: { a: 2 } },
      { group: [1, null], count: 2, sum: { a: 2 } },
      { group: [2, 'x'], count: 1, sum: { a: 2 } },
    ]);
    expect(await findGroups(name, { group: 'c, b ,a', sort: 'c,-count' })).toEqual([
      { group: [null, 'x', 1], count: 2 },
      { group: [null, null, 1], count: 2 },
      { group: [true, 'x', 2], count: 1 },
    ]);
    const long = await fill([{ a: 'x'.repeat(600), b: 1 }]);
    expect((await ask(long, { group: 'b,a' })).body.error).toContain('longer than 512 bytes');
  });

  it('count different values, in each group and over all pieces of a scan', async () => {
    const rows = Array.from({ length: 6000 }, (_, n) => ({
      kind: n % 2 ? 'odd' : 'even',
      visitor: n % 3 === 0 ? null : n % 500,
      place: { id: n % 7, text: 'a long text about this place, behind its number' },
    }));
    const name = await fill(rows);
    expect(await findGroups(name, { group: 'kind', distinct: 'visitor', sort: 'kind' })).toEqual([
      { group: 'even', count: 3000, distinct: { visitor: 250 } },
      { group: 'odd', count: 3000, distinct: { visitor: 250 } },
    ]);
    expect(await findGroups(name, { distinct: 'place' })).toEqual([
      { count: 6000, distinct: { place: 7 } },
    ]);
    expect(await findGroups('missing', { distinct: 'x' })).toEqual([
      { count: 0, distinct: { x: 0 } },
    ]);
  });

  it('count no more different values than are kept', async () => {
    const name = await fill(Array.from({ length: 20_001 }, (_, n) => ({ n })));
    const { status, body } = await ask(name, { distinct: 'n' });
    expect([status, body.code]).toEqual([422, 'query_too_expensive']);
    const where = JSON.stringify({ n: { $lt: 20_000 } });
    expect(await findGroups(name, { distinct: 'n', where })).toEqual([
      { count: 20_000, distinct: { n: 20_000 } },
    ]);
  });

  it('are those of which the filter holds, in the order asked for', async () => {
    const name = await fill([
      { status: 'open', price: 5 },
      { status: 'open', price: 1 },
      { status: 'paid', price: 100 },
      { status: 'paid', price: 200 },
      { status: 'lost', price: 7 },
    ]);
    const sums = { group: 'status', sum: 'price', avg: 'price' };
    const order = async (query: Record<string, string>) =>
      (await findGroups(name, { ...sums, ...query })).map(({ group }: { group: string }) => group);
    expect(await order({ sort: '-sum.price' })).toEqual(['paid', 'lost', 'open']);
    expect(await order({ sort: 'count,-status' })).toEqual(['lost', 'paid', 'open']);
    expect(await order({ having: '{"sum.price":{"$lt":10}}', sort: 'avg.price' })).toEqual([
      'open',
      'lost',
    ]);
    expect(await order({ having: '{"$or":[{"count":1},{"avg.price":{"$gte":150}}]}' })).toEqual([
      'paid',
      'lost',
    ]);
    expect(await findGroups(name, { sum: 'price', having: '{"count":{"$gt":9}}' })).toEqual([]);
    for (const [query, words] of [
      [{ sort: 'price' }, 'did you mean "sum.price"?'],
      [{ sort: 'max.price' }, 'neither a group nor a sum'],
      [{ sort: 'a,b,c,d' }, 'neither a group nor a sum'],
      [{ sort: '' }, 'neither a group nor a sum'],
      [{ having: '{"min.price":1}' }, 'nothing that this call counts'],
      [{ group: 'a,b,c,d' }, 'at most 3 fields'],
      [{ group: 'a,a' }, 'names a field twice'],
      [{ group: 'a,,b' }, 'needs the name of a field'],
      [{ distinct: 'a,b' }, 'names one field'],
      [{ timeZone: 'UTC' }, 'goes with a group by time'],
    ] as const) {
      const { status, body } = await ask(name, { ...sums, ...query });
      expect([query, status]).toEqual([query, 400]);
      expect(body.error).toContain(words);
    }
  });

  /** Records that were made at these times. */
  const made = async (times: readonly string[]) => {
    const name = await fill([{}]);
    const generator = new V7Generator();
    const ids = times.map((time) => generator.generateOrResetWithTs(Date.parse(time)).toString());
    await bed.database.query(
      `INSERT INTO records (project_id, coll_id, id, created_at, updated_at, data)
       SELECT c.project_id, c.coll_id, id, time, time + interval '40 days', '{}'
         FROM collections c, unnest($2::uuid[], $3::timestamptz[]) r(id, time)
        WHERE c.project_id = $1 AND c.name = $4`,
      [testProject.number, ids, times, name],
    );
    const where = JSON.stringify({ createdAt: { $lt: '2026-06' } });
    return (query: Record<string, string>) =>
      findGroups(name, { sort: query.group ?? '', where, ...query });
  };

  it('are days, weeks and months of a time zone, also where its clocks change', async () => {
    const ask = await made([
      '2026-03-28T22:59:59.999Z',
      '2026-03-28T23:00:00Z',
      // In Berlin the 29th has 23 hours.
      '2026-03-29T21:59:59Z',
      '2026-03-29T22:00:00Z',
      '2026-03-31T21:59:59Z',
      '2026-03-31T22:00:00Z',
    ]);
    const inBerlin = { timeZone: 'Europe/Berlin' };
    expect(await ask({ group: 'createdAt:day', ...inBerlin })).toEqual([
      { group: '2026-03-28', count: 1 },
      { group: '2026-03-29', count: 2 },
      { group: '2026-03-30', count: 1 },
      { group: '2026-03-31', count: 1 },
      { group: '2026-04-01', count: 1 },
    ]);
    expect(await ask({ group: 'createdAt:day' })).toEqual([
      { group: '2026-03-28', count: 2 },
      { group: '2026-03-29', count: 2 },
      { group: '2026-03-31', count: 2 },
    ]);
    // Monday is the 30th.
    expect(await ask({ group: 'createdAt:week', ...inBerlin })).toEqual([
      { group: '2026-03-23', count: 3 },
      { group: '2026-03-30', count: 3 },
    ]);
    expect(await ask({ group: 'createdAt:month', ...inBerlin })).toEqual([
      { group: '2026-03-01', count: 5 },
      { group: '2026-04-01', count: 1 },
    ]);
    expect(
      await ask({ group: 'updatedAt:month,createdAt:month', timeZone: 'america/new_york' }),
    ).toEqual([{ group: ['2026-05-01', '2026-03-01'], count: 6 }]);
  });

  it('refuse time zones that are none', async () => {
    const name = await fill([{}]);
    for (const timeZone of ['Europe/Atlantis', '+02:00']) {
      const { status, body } = await ask(name, { group: 'createdAt:day', timeZone });
      expect([status, body.code]).toEqual([400, 'invalid_query']);
      expect(body.hint).toContain('Europe/Berlin');
    }
  });

  it('tell nothing of fields that are hidden from the caller', async () => {
    const name = await fill([{ kind: 'a', cost: 3 }]);
    const access = {
      read: ['anyone'],
      create: ['users'],
      change: [],
      fields: { cost: { read: ['role:staff'] }, kind: { read: ['owner'] } },
    };
    const path = `/platform/projects/${testProject.id}/collections/${name}`;
    const set = await bed.call('PUT', path, { identity: asOwner(), body: { access } });
    expect(set.status).toBe(200);
    for (const query of [
      { group: 'kind,cost' },
      { distinct: 'cost' },
      { sum: 'cost', having: '{"sum.cost":3}' },
      { max: 'cost', sort: 'max.cost' },
    ]) {
      const { status, body } = await ask(name, query as Record<string, string>, asUser(bob));
      expect([query, status, body.code]).toEqual([query, 403, 'forbidden']);
    }
    const { body } = await ask(name, { group: 'kind,ownerId', distinct: 'kind' }, asUser(bob));
    expect(body.groups).toEqual([{ group: [null, ada], count: 1, distinct: { kind: 0 } }]);
  });
});
