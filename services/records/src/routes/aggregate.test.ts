import { anonymous, asKey, asOwner, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

type Row = { g?: unknown; n?: unknown };

/** In a few lines what the database does in pieces. */
const aggregate = (rows: Row[]) => {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = JSON.stringify(row.g ?? null);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups].map(([key, members]) => {
    const values = members.map(({ n }) => n);
    const numbers = values.filter((value): value is number => typeof value === 'number');
    const texts = values.filter((value): value is string => typeof value === 'string').sort();
    const sum = numbers.reduce((total, number) => total + number, 0);
    return {
      group: JSON.parse(key),
      count: members.length,
      sum: { n: sum },
      avg: { n: numbers.length > 0 ? sum / numbers.length : null },
      min: { n: numbers.length > 0 ? Math.min(...numbers) : (texts[0] ?? null) },
      max: { n: numbers.length > 0 ? Math.max(...numbers) : (texts.at(-1) ?? null) },
    };
  });
};

describe('groups and sums', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  let collections = 0;
  const fill = async (rows: object[], identity = asUser(ada)) => {
    const name = `c${++collections}`;
    const body = { create: rows.map((data) => ({ data })) };
    const { status } = await bed.call('POST', `/db/${name}/_batch`, { identity, body });
    expect(status).toBe(200);
    return name;
  };
  const ask = (collection: string, query = '', identity = asUser(ada)) =>
    bed.call('GET', `/db/${collection}/_aggregate?${query}`, { identity });
  const restrict = (collection: string, preset: string) =>
    bed.call('PUT', `/platform/projects/${asOwner().project.id}/collections/${collection}`, {
      identity: asOwner(),
      body: { access: preset },
    });

  it('are those of a plain model', async () => {
    const value = fc.constantFrom<unknown>(1, 2.5, -4, 'x', 'a', null, true, [1], { a: 1 });
    const row = fc.record({ g: value, n: value }, { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 30 }), async (rows) => {
        const { body } = await ask(await fill(rows), 'group=g&sum=n&avg=n&min=n&max=n');
        const expected = aggregate(rows as Row[]);
        expect(body.groups).toHaveLength(expected.length);
        expect(body.groups).toEqual(expect.arrayContaining(expected));
      }),
      { numRuns: 60 },
    );
  });

  it('are the largest first, and exact over several pieces of a scan', async () => {
    const rows = Array.from({ length: 500 }, (_, n) => ({ kind: n % 5 === 0 ? 'b' : 'a', x: 0.1 }));
    const name = await fill(rows);
    for (let batch = 0; batch < 9; batch++)
      await bed.call('POST', `/db/${name}/_batch`, {
        identity: asUser(ada),
        body: { create: rows.map((data) => ({ data })) },
      });
    expect((await ask(name, 'group=kind&sum=x')).body.groups).toEqual([
      { group: 'a', count: 4000, sum: { x: 400 } },
      { group: 'b', count: 1000, sum: { x: 100 } },
    ]);
  });

  it('are one group without a field to group by, and none are zero', async () => {
    const name = await fill([{ n: 1 }, { n: 2 }, {}]);
    expect((await ask(name, 'sum=n&max=createdAt')).body.groups).toEqual([
      { count: 3, sum: { n: 3 }, max: { createdAt: expect.stringMatching(/^\d{4}-.*Z$/) } },
    ]);
    const where = encodeURIComponent('{"n":99}');
    const empty = [{ count: 0, sum: { n: 0 }, avg: { n: null } }];
    expect((await ask(name, `sum=n&avg=n&where=${where}`)).body.groups).toEqual(empty);
    expect((await ask('missing', 'sum=n&avg=n')).body.groups).toEqual(empty);
    expect((await ask('missing', 'group=n')).body.groups).toEqual([]);
  });

  it('take where, mine, paths and system fields', async () => {
    const name = await fill([{ a: { b: 1 } }, { a: { b: 1 } }, { a: { b: 2 } }]);
    await bed.create(name, { a: { b: 1 } }, asUser(bob));
    const where = encodeURIComponent('{"a.b":1}');
    expect((await ask(name, `group=a.b&where=${where}`)).body.groups).toEqual([
      { group: 1, count: 3 },
    ]);
    expect((await ask(name, 'group=ownerId')).body.groups).toEqual([
      { group: ada, count: 3 },
      { group: bob, count: 1 },
    ]);
    expect((await ask(name, 'mine=1')).body.groups).toEqual([{ count: 3 }]);
  });

  it('are of what the caller may see alone', async () => {
    const name = await fill([{ g: 'a', n: 1 }]);
    await bed.create(name, { g: 'b', n: 10 }, asUser(bob));
    expect((await restrict(name, 'private')).status).toBe(200);
    const query = 'group=g&sum=n';
    const adas = { group: 'a', count: 1, sum: { n: 1 } };
    const bobs = { group: 'b', count: 1, sum: { n: 10 } };
    expect((await ask(name, query)).body.groups).toEqual([adas]);
    expect((await ask(name, query, asUser(bob))).body.groups).toEqual([bobs]);
    expect((await ask(name, query, asKey())).body.groups).toEqual([adas, bobs]);
    expect((await ask(name, query, anonymous())).status).toBe(401);
    expect((await restrict(name, 'append-only')).status).toBe(200);
    expect((await ask(name, query)).body.groups).toEqual([]);
    const project = { ...asUser(ada).project, id: 'elsewhere', number: 4242 };
    expect((await ask(name, query, { ...asKey(), project })).body.groups).toEqual([]);
  });

  it('tell nothing of fields that are hidden from the caller', async () => {
    const name = await fill([
      { kind: 'a', cost: 3 },
      { kind: 'b', cost: 4 },
    ]);
    const fields = { cost: { read: ['role:staff'] }, kind: { read: ['owner'] } };
    const access = { read: ['anyone'], create: ['users'], change: [], fields };
    const path = `/platform/projects/${testProject.id}/collections/${name}`;
    expect((await bed.call('PUT', path, { identity: asOwner(), body: { access } })).status).toBe(
      200,
    );
    for (const query of ['group=cost', 'sum=cost', 'avg=cost', 'min=cost', 'max=cost.a']) {
      const { status, body } = await ask(name, query, asUser(ada));
      expect([query, status, body.code]).toEqual([query, 403, 'forbidden']);
    }
    expect((await ask(name, 'group=kind', asUser(bob))).body.groups).toEqual([
      { group: null, count: 2 },
    ]);
    expect((await ask(name, 'group=kind', asUser(ada))).body.groups).toHaveLength(2);
    expect((await ask(name, 'sum=cost', asKey())).body.groups[0].sum).toEqual({ cost: 7 });
  });

  it('are bounded, and say what is wrong', async () => {
    const rows = Array.from({ length: 500 }, (_, n) => ({ n }));
    const name = await fill(rows);
    for (const start of [500, 501]) {
      const create = rows.map(({ n }) => ({ data: { n: n + start } }));
      await bed.call('POST', `/db/${name}/_batch`, {
        identity: asUser(ada),
        body: { create },
      });
      const { status, body } = await ask(name, 'group=n');
      if (start === 500) expect([status, body.groups.length]).toEqual([200, 1000]);
      else expect([status, body.code]).toEqual([422, 'query_too_expensive']);
    }
    const long = await fill([{ text: 'x'.repeat(600) }]);
    expect((await ask(long, 'group=text')).body.error).toContain('longer than 512 bytes');
    const large = await fill([{ n: 1.7e308 }, { n: 1.7e308 }]);
    expect((await ask(large, 'sum=n')).body.error).toContain('"n" is too large');
    for (const [query, words] of [
      ['group=', '"group" needs the name of a field'],
      ['sum=a,', '"sum" needs the name of a field'],
      ['sum=$a', '"sum": the field "$a" has a level that starts with "$"'],
      ['sum=a,b&avg=c,d', 'at most 3 fields together'],
      ['count=a', 'Unknown query parameter: "count"'],
    ] as const) {
      const { status, body } = await ask(name, query);
      expect([query, status, body.code]).toEqual([query, 400, 'invalid_query']);
      expect(body.error).toContain(words);
    }
  });

  it('read no more records than lists may', async () => {
    const small = await createTestBed({ scanRows: 20 });
    const create = Array.from({ length: 30 }, (_, n) => ({ data: { n } }));
    await small.call('POST', '/db/many/_batch', { identity: asUser(ada), body: { create } });
    const { status, body } = await small.call('GET', '/db/many/_aggregate?sum=n', {
      identity: asUser(ada),
    });
    await small.close();
    expect([status, body.code]).toEqual([422, 'query_too_expensive']);
  });
});
