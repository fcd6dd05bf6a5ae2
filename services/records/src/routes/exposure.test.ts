import { recordRoutes } from '@backlot/contract';
import { identityHeader } from '@backlot/identity';
import {
  anonymous,
  asKey,
  asOwner,
  asUser,
  receiveEvents,
  refusesStrangers,
  signed,
  testProject,
  until,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTraffic, forgetTraffic } from '../exposure/traffic.ts';
import { ada, createTestBed, type TestBed } from '../testing/test-bed.ts';

const base = `/platform/projects/${testProject.id}`;
const hourMs = 60 * 60 * 1000;

describe('what strangers read', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  for (const [route, path] of [
    [recordRoutes.getExposure, 'exposure'],
    [recordRoutes.listRefusals, 'refusals'],
    [recordRoutes.listVisits, 'visits'],
  ] as const)
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path: `/projects/${testProject.id}/${path}` }),
    );

  const get = (path: string, identity = asOwner()) =>
    bed.call('GET', `${base}/${path}`, { identity });
  const set = (name: string, access: unknown) =>
    bed.call('PUT', `${base}/collections/${name}`, { identity: asOwner(), body: { access } });
  const exposure = async (name: string) => {
    await bed.service.reportTraffic();
    const { status, body } = await get('exposure');
    expect(status).toBe(200);
    return body.items.find((one: { name: string }) => one.name === name);
  };
  const list = (name: string, identity: ReturnType<typeof asUser>) =>
    bed.call('GET', `/db/${name}`, { identity });

  it('is counted by kind of caller, and told with what stricter rules would have refused', async () => {
    await set('notes', 'shared');
    const noted = await bed.create('notes', { title: 'x' }, asUser(ada));
    for (let n = 0; n < 3; n++) await list('notes', anonymous());
    await bed.call('GET', `/db/notes/${noted.id}`, { identity: anonymous() });
    await bed.call('GET', '/db/notes/_count', { identity: asUser(ada) });
    await list('notes', asKey());
    await list('notes', { ...anonymous(), isView: true });
    const found = await exposure('notes');
    expect(found).toMatchObject({
      access: 'shared',
      strangersRead: 'all',
      reads: { anonymous: 4, user: 1, key: 1 },
      writes: { user: 1 },
      refused: {},
      sampled: 1,
      fields: [],
    });
    const options = found.stricter.map(({ rule, refused, narrowed }: Record<string, unknown>) => [
      rule,
      refused,
      narrowed,
    ]);
    expect(options).toEqual([
      ['users', 4, 0],
      ['owner', 4, 1],
    ]);
  });

  it('counts a stream that has ended as a read of each of its collections', async () => {
    await set('heard', 'shared');
    await set('shown', 'shared');
    const stream = await receiveEvents(`${bed.http.url}/events?collections=heard,shown`, {
      [identityHeader]: signed(anonymous(), recordRoutes.openEvents),
    });
    await stream.take(1, 'ready');
    stream.close();
    await until(async () => (await exposure('heard')).reads.anonymous === 1);
    expect((await exposure('shown')).reads).toEqual({ anonymous: 1 });
  });

  it('is set more strictly by one call, which another takes back', async () => {
    await set('open', 'shared');
    await bed.create('open', { n: 1 }, asUser(ada));
    const [, owner] = (await exposure('open')).stricter;
    const send = ({ path, body }: { path: string; body: object }) =>
      bed.call('PUT', path.slice('/api'.length), { identity: asOwner(), body });
    expect((await send(owner.set)).status).toBe(200);
    expect((await list('open', anonymous())).status).toBe(401);
    expect((await list('open', asUser(ada))).body.items).toHaveLength(1);
    expect((await send(owner.undo)).status).toBe(200);
    expect((await exposure('open')).access).toBe('shared');
    expect((await list('open', anonymous())).body.items).toHaveLength(1);
  });

  it('names kinds of values and no value', async () => {
    await set('people', {
      read: ['anyone'],
      create: ['anyone'],
      change: [],
      fields: { phone: { read: [] } },
    });
    const secrets = {
      mail: 'ada@example.org',
      phone: '+49 30 1234567',
      token: `sk_${'a1'.repeat(12)}`,
      price: 1999,
      cost: '12,50 EUR',
      title: 'a title',
      count: 3,
    };
    await bed.create('people', secrets, asOwner());
    const found = await exposure('people');
    expect(found.fields).toEqual(
      expect.arrayContaining([
        { field: 'mail', kind: 'email', isOpen: true },
        { field: 'phone', kind: 'phone', isOpen: false },
        { field: 'token', kind: 'secret', isOpen: true },
        { field: 'price', kind: 'amount', isOpen: true },
        { field: 'cost', kind: 'amount', isOpen: true },
      ]),
    );
    expect(found.fields).toHaveLength(5);
    const text = JSON.stringify(found);
    for (const value of ['ada@', '1234567', 'a1a1', '1999', '12,50'])
      expect(text).not.toContain(value);
    const [hide] = found.stricter;
    expect(hide.rule).toBe('hide-fields');
    await bed.call('PUT', hide.set.path.slice('/api'.length), {
      identity: asOwner(),
      body: hide.set.body,
    });
    const [seen] = (await list('people', anonymous())).body.items;
    expect(Object.keys(seen).sort()).toEqual([
      'count',
      'createdAt',
      'id',
      'ownerId',
      'title',
      'updatedAt',
    ]);
  });

  it('proposes no rules that could not be set', async () => {
    await set('wide', 'shared');
    const names = Array.from({ length: 60 }, (_, n) => [
      `${'long name '.repeat(9)}${n}`,
      'a@example.org',
    ]);
    await bed.create('wide', Object.fromEntries(names), asUser(ada));
    const { fields, stricter } = await exposure('wide');
    expect(fields.length).toBeLessThanOrEqual(50);
    expect(stricter.map(({ rule }: { rule: string }) => rule)).toEqual(['users', 'owner']);
  });

  it('and what rules refuse is told by collection, rule and kind of caller', async () => {
    await set('shut', 'private');
    await list('shut', anonymous());
    await list('shut', anonymous());
    await list('shut', asUser(ada));
    await bed.call('POST', '/db/shut', { identity: anonymous(), body: { data: {} } });
    const mine = await bed.create('shut', {}, asUser(ada));
    await bed.call('PATCH', `/db/shut/${mine.id}`, { identity: anonymous(), body: { data: {} } });
    await bed.call('POST', '/db/shut', { identity: asUser(ada), body: { data: 1 } });
    await bed.service.reportTraffic();
    const { body } = await get('refusals');
    const items = body.items.filter(
      ({ collection }: { collection: string }) => collection === 'shut',
    );
    expect(items).toEqual([
      { collection: 'shut', rule: 'read', caller: 'anonymous', refused: 2, done: 0 },
      { collection: 'shut', rule: 'change', caller: 'anonymous', refused: 1, done: 0 },
      { collection: 'shut', rule: 'create', caller: 'anonymous', refused: 1, done: 0 },
    ]);
    const elsewhere = { ...testProject, id: 'elsewhere', number: 1002 };
    const foreign = await bed.call('GET', '/platform/projects/elsewhere/refusals', {
      identity: asOwner({ project: elsewhere }),
    });
    expect(foreign.body.items).toEqual([]);
  });

  it('is added up over processes, for names that are collections alone, and forgotten after two days', async () => {
    await set('busy', 'shared');
    const clock = { now: Date.UTC(2026, 0, 31, 12, 30) };
    const processes = [1, 2].map(() =>
      createTraffic(
        bed.database,
        () => clock.now,
        async () => {},
      ),
    );
    const called = { identity: anonymous(), does: 'read', isRefused: false } as const;
    for (const one of processes)
      for (let n = 0; n < 50; n++)
        one.note({ ...called, collection: n % 2 ? 'busy' : `made-up${n}` });
    await Promise.all(processes.map((one) => one.report()));
    const rows = async () =>
      await bed.database.query<{ done: number }>('SELECT done FROM traffic WHERE hour < $1', [
        new Date(clock.now),
      ]);
    expect(await rows()).toEqual([{ done: 50 }]);
    clock.now += 49 * hourMs;
    await forgetTraffic(bed.database, () => clock.now);
    expect(await rows()).toEqual([]);
  });

  it('counts visitors of a day about right, each once', async () => {
    const traffic = createTraffic(bed.database, Date.now, async () => {});
    const called = { collection: 'none', does: 'read', isRefused: false } as const;
    for (let n = 0; n < 3000; n++)
      traffic.note({ ...called, identity: { ...anonymous(), ip: `address ${n % 1000}` } });
    await traffic.report();
    const { body } = await get('visits?days=7');
    expect(body.items).toHaveLength(7);
    const today = body.items.at(-1).visitors;
    expect(today).toBeGreaterThan(900);
    expect(today).toBeLessThan(1100);
    expect(body.items[0].visitors).toBe(0);
    for (const days of ['0', '91', 'x'])
      expect((await get(`visits?days=${days}`)).status).toBe(400);
  });

  it('is a finding for the operator where it looks personal and strangers have read it', async () => {
    const told: unknown[] = [];
    await bed.bus.subscribe({
      queue: 'told',
      topics: ['finding.seen'],
      handler: async ({ payload }) => void told.push(payload),
    });
    const contact = { address: 'ada@example.org', note: 'hello' };
    for (const [name, access] of [
      ['leaks', 'shared'],
      ['hides', 'private'],
      ['plain', 'shared'],
    ] as const) {
      await set(name, access);
      const document = name === 'plain' ? { note: 'hello' } : contact;
      await bed.create(name, document, asUser(ada));
    }
    await until(async () => {
      const { body } = await get('collections');
      return body.items.some(
        (one: { name: string; advice?: string }) => one.name === 'leaks' && one.advice,
      );
    });
    for (const name of ['leaks', 'hides', 'plain', 'none'])
      for (const caller of [anonymous(), asUser(ada), asKey()]) await list(name, caller);
    await until(async () => {
      await bed.service.reportTraffic();
      await bed.service.reportFindings();
      return told.length > 0;
    });
    expect(told).toEqual([
      {
        projectNumber: testProject.number,
        seen: [
          { kind: 'exposure', subject: 'leaks', signs: ['email'], calls: 1, examples: ['address'] },
        ],
      },
    ]);
  });

  it('stays bounded however many names are made up', async () => {
    const traffic = createTraffic(bed.database, Date.now, async () => {});
    const called = { identity: asUser(ada), does: 'read', isRefused: false } as const;
    for (let n = 0; n < 20_000; n++) traffic.note({ ...called, collection: `name${n}` });
    await traffic.report();
    const [row] = await bed.database.query<{ count: number }>(
      "SELECT count(*) FROM traffic JOIN collections USING (project_id, coll_id) WHERE name LIKE 'name%'",
    );
    expect(row?.count).toBe(0);
  });
});
