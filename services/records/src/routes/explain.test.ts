import { planHeader } from '@backlot/contract';
import { hintHeader } from '@backlot/http';
import { anonymous, asKey, asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, createTestBed, type TestBed } from '../testing/test-bed.ts';

const path = `/platform/projects/${testProject.id}/collections`;

describe('how an answer was found', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ scanRows: 50 });
    for (let n = 0; n < 40; n++) await bed.create('todos', { n, status: `s${n % 3}`, text: 'tea' });
    await bed.call('PUT', `${path}/todos`, {
      identity: asOwner(),
      body: { indexes: ['status'], search: ['text'] },
    });
    await until(
      async () => {
        const { body } = await bed.call('GET', path, { identity: asOwner() });
        const [{ indexes, search }] = body.items;
        return indexes[0]?.state === 'ready' && search.state === 'ready';
      },
      { timeoutMs: 90_000 },
    );
  });
  afterAll(() => bed.close());

  const get = (rest: string, identity = asKey()) =>
    bed.call('GET', `/db/todos${rest}`, { identity });
  const where = (filter: object) => `where=${encodeURIComponent(JSON.stringify(filter))}`;
  const explain = async (rest: string, identity = asKey()) => {
    const { status, body } = await get(`${rest}&explain=1`, identity);
    expect([rest, status]).toEqual([rest, 200]);
    return body.explain;
  };

  it('is told to the owner and to keys: by which index, and for want of which one', async () => {
    for (const identity of [asKey(), asOwner()]) {
      expect(await explain('?limit=5', identity)).toMatchObject([{ kind: 'key', queue: 'none' }]);
      expect(await explain(`?${where({ status: 's1' })}`, identity)).toMatchObject([
        { kind: 'exact', queue: 'none', indexes: ['status'], tried: [], wants: [] },
      ]);
      expect(await explain(`?${where({ status: 's1', n: 4 })}`, identity)).toMatchObject([
        { kind: 'index', queue: 'index', indexes: ['status'] },
      ]);
      const [scan] = await explain(`?${where({ n: { $gt: 30 } })}&sort=text`, identity);
      expect(scan).toMatchObject({ kind: 'scan', indexes: [], wants: ['n', 'text'], building: [] });
      expect(scan.statements).toBeGreaterThan(0);
      expect(await explain('?search=tea', identity)).toMatchObject([{ kind: 'search' }]);
    }
  });

  it('is told of counts and sums, and of a page and its total', async () => {
    expect(await explain(`/_count?${where({ status: 's1' })}`)).toMatchObject([
      { kind: 'index', indexes: ['status'] },
    ]);
    expect(await explain('/_count?search=tea')).toMatchObject([{ kind: 'search' }]);
    expect(await explain('/_count?')).toMatchObject([{ kind: 'key' }]);
    expect(await explain(`/_aggregate?group=n&${where({ status: 's1' })}`)).toMatchObject([
      { kind: 'index', indexes: ['status'] },
    ]);
    expect(await explain('/_aggregate?group=n')).toMatchObject([{ kind: 'scan', wants: [] }]);
    const both = await explain(`?${where({ status: 's1' })}&total=1`);
    expect(both.map(({ kind }: { kind: string }) => kind)).toEqual(['exact', 'index']);
  });

  it('is told to nobody who does not ask, and to no others', async () => {
    for (const rest of ['?limit=5', '/_count?', '/_aggregate?group=n']) {
      expect((await get(rest)).body).not.toHaveProperty('explain');
      expect((await get(`${rest}&explain=0`)).body).not.toHaveProperty('explain');
      for (const [identity, status] of [
        [anonymous(), 401],
        [asUser(ada), 403],
        [asUser(ada, { role: 'admin' }), 403],
      ] as const) {
        const { status: answered, body } = await get(`${rest}&explain=1`, identity);
        expect([rest, answered]).toEqual([rest, status]);
        expect(body.error).toContain('"explain"');
        expect(body).not.toHaveProperty('explain');
      }
    }
  });

  it('is told of their own project alone', async () => {
    const project = { ...testProject, id: 'other', number: 4003 };
    for (const identity of [asKey({ project }), asOwner({ project })]) {
      const { body } = await get(`?${where({ status: 's1' })}&explain=1`, identity);
      expect(body).toMatchObject({ items: [], explain: [] });
      expect((await get('/_count?explain=1', identity)).body).toMatchObject({ explain: [] });
      const sums = await get('/_aggregate?group=status&explain=1', identity);
      expect(sums.body).toEqual({ groups: [], explain: [] });
    }
  });

  it('is told to the gateway of every answer, and where one is refused', async () => {
    const plan = async (rest: string) => {
      const { status, headers } = await get(rest, anonymous());
      return [status, headers.get(planHeader)];
    };
    expect(await plan('?limit=5&total=1')).toEqual([200, 'key,key']);
    expect(await plan(`?${where({ n: 3 })}`)).toEqual([200, 'scan']);
    expect(await plan('/_aggregate?group=n')).toEqual([200, 'scan']);
    for (let n = 0; n < 20; n++) await bed.create('many', { n });
    await bed.call('POST', '/db/many/_batch', {
      identity: asUser(ada),
      body: { create: Array.from({ length: 40 }, (_, n) => ({ data: { n } })) },
    });
    const refused = await bed.call('GET', '/db/many?sort=n', { identity: asKey() });
    expect([refused.status, refused.headers.get(planHeader)]).toEqual([422, 'scan']);
  });
});

describe('while an index is being made', () => {
  it('a scan that it will spare takes longer than others may, and says so', async () => {
    const bed = await createTestBed();
    const identity = asKey();
    const create = Array.from({ length: 300 }, (_, n) => ({ data: { n, kind: `k${n % 3}` } }));
    await bed.call('POST', '/db/todos/_batch', { identity, body: { create } });
    const ask = (rest: string) => bed.call('GET', `/db/todos${rest}`, { identity });
    const filter = `where=${encodeURIComponent('{"kind":"k1"}')}`;
    expect((await ask(`?${filter}`)).headers.get(hintHeader)).toBeNull();
    await bed.database.query(
      `INSERT INTO slots (project_id, coll_id, slot, field, state, assigned_at, is_pinned)
       SELECT project_id, coll_id, 1, 'kind', 'building', now() + interval '1 day', true FROM collections WHERE name = 'todos'`,
    );
    await bed.database.query(`UPDATE collections SET epoch = epoch + 1 WHERE name = 'todos'`);
    bed.clock.pass(60_000);
    for (const rest of [`?${filter}`, `/_count?${filter}`, `/_aggregate?group=n&${filter}`]) {
      const { status, headers, body } = await ask(`${rest}&explain=1`);
      expect([rest, status]).toEqual([rest, 200]);
      expect(body.explain[0]).toMatchObject({ kind: 'scan', building: ['kind'] });
      expect(headers.get(hintHeader)).toContain('index_building: an index on "kind"');
    }
    expect((await ask('?limit=3')).headers.get(hintHeader)).toBeNull();
    await bed.close();
  });
});
