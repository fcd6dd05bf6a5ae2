import { recordRoutes } from '@backlot/contract';
import { anonymous, asKey, asOwner, asUser, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const base = `/platform/projects/${testProject.id}/collections`;
const staffId = '018f0000-0000-7000-8000-0000000000c1';

describe('trying rules on records', () => {
  let bed: TestBed;
  let trials = 0;
  beforeAll(async () => {
    bed = await createTestBed();
    bed.people.set(ada, { role: 'user', groups: [] });
    bed.people.set(bob, { role: 'user', groups: [] });
  });
  afterAll(() => bed.close());
  refusesStrangers(
    recordRoutes.tryAccess,
    () => bed.http,
    () => ({
      path: `/projects/${testProject.id}/collections/notes/try-access`,
      body: { as: 'stranger' },
    }),
  );

  const set = (name: string, access: unknown) =>
    bed.call('PUT', `${base}/${name}`, { identity: asOwner(), body: { access } });
  const attempt = (name: string, body: object, identity = asOwner()) =>
    bed.call('POST', `${base}/${name}/try-access`, { identity, body });
  const given = async (name: string, access: unknown) => {
    await set(name, 'shared');
    await bed.create(name, { n: 1, draft: true, note: 'x' }, asUser(ada));
    await bed.create(name, { n: 2, draft: false, note: 'x' }, asUser(bob));
    await bed.create(name, { n: 3, draft: false }, anonymous());
    await set(name, access);
  };

  it.each([
    'shared',
    'private',
    'locked',
    'catalog',
    {
      read: ['owner', 'role:staff', { to: ['anyone'], where: { draft: false } }],
      create: ['users'],
      change: ['ownerless', { to: ['owner'], where: { n: { $lt: 2 } } }],
      delete: ['role:staff'],
      fields: { note: { read: ['owner'] }, n: { change: ['role:staff'] } },
    },
  ])('says of each record what the same calls then do: %j', async (access) => {
    const name = `trial${trials++}`;
    await given(name, 'shared');
    const callers = [
      ['stranger', anonymous()],
      [`user:${ada}`, asUser(ada)],
      ['role:staff', asUser(staffId, { role: 'staff' })],
    ] as const;
    const tried = [];
    for (const [as] of callers) tried.push((await attempt(name, { as, access })).body);
    expect((await attempt(name, { as: 'stranger' })).body.access).toBe('shared');
    await set(name, access);
    for (const [place, [as, identity]] of callers.entries()) {
      const { items, readable, rules } = tried[place];
      expect(items).toHaveLength(3);
      expect(readable).toBe(items.filter(({ read }: { read: boolean }) => read).length);
      expect((await attempt(name, { as })).body.items).toEqual(
        items.map(({ inForce: _, ...item }: { inForce: object }) => ({
          ...item,
          inForce: withoutId(item),
        })),
      );
      const check = `/platform/projects/${testProject.id}/access-check?collection=${name}`;
      const asked = as === 'stranger' ? 'anonymous' : as.startsWith('role') ? undefined : as;
      if (asked) {
        const { body } = await bed.call('GET', `${check}&as=${asked}`, { identity: asOwner() });
        expect(rules.change).toEqual(body.change);
      }
      for (const item of items) {
        const path = `/db/${name}/${item.id}`;
        const got = await bed.call('GET', path, { identity });
        expect([as, item.id, got.status === 200]).toEqual([as, item.id, item.read]);
        if (item.read) expect('note' in got.body && item.hidden.includes('note')).toBe(false);
        const patched = await bed.call('PATCH', path, { identity, body: { data: { extra: 1 } } });
        expect([as, item.id, patched.status === 200]).toEqual([as, item.id, item.change]);
      }
    }
  });

  it('changes nothing, neither records nor rules', async () => {
    await given('still', 'private');
    const list = () => bed.call('GET', '/db/still', { identity: asOwner() });
    const before = (await list()).body;
    const { body } = await attempt('still', { as: 'stranger', access: 'shared' });
    expect([body.readable, body.items[0].inForce.read]).toEqual([3, false]);
    expect((await list()).body).toEqual(before);
    expect((await bed.call('GET', '/db/still', { identity: anonymous() })).status).toBe(401);
  });

  it('takes a bounded sample of old and new records', async () => {
    await set('many', 'shared');
    const create = Array.from({ length: 300 }, (_, n) => ({ data: { n } }));
    await bed.call('POST', '/db/many/_batch', { identity: asOwner(), body: { create } });
    const ids = new Set<string>();
    const { body } = await attempt('many', { as: 'stranger', limit: 200 });
    for (const { id } of body.items) ids.add(id);
    expect(ids.size).toBe(body.sampled);
    expect(body.sampled).toBeGreaterThan(100);
    expect(body.sampled).toBeLessThanOrEqual(200);
    expect((await attempt('many', { as: 'stranger', limit: 1 })).body.sampled).toBe(1);
  });

  it.each([
    { as: 'anybody' },
    { as: 'user:me' },
    { as: 'role:Staff' },
    {},
    { as: 'stranger', limit: 0 },
    { as: 'stranger', limit: 201 },
    { as: 'stranger', access: 'open' },
    { as: 'stranger', access: { read: ['anyone'] } },
    {
      as: 'stranger',
      access: { read: [{ to: ['anyone'], where: { $where: 1 } }], create: [], change: [] },
    },
    { as: 'stranger', role: 'staff' },
    [],
  ])('refuses %j', async (body) => {
    await set('notes', 'shared');
    expect((await attempt('notes', body)).status).toBe(400);
  });

  it('is a 404 for users and collections that are not there, and for other projects', async () => {
    await given('mine', 'shared');
    expect((await attempt('mine', { as: `user:${staffId}` })).status).toBe(404);
    expect((await attempt('none', { as: 'stranger' })).status).toBe(404);
    const elsewhere = { ...testProject, id: 'elsewhere', number: 1002 };
    const path = '/platform/projects/elsewhere/collections/mine/try-access';
    const identity = asOwner({ project: elsewhere });
    expect((await bed.call('POST', path, { identity, body: { as: 'stranger' } })).status).toBe(404);
  });

  it('is there for keys of the project too', async () => {
    await given('keyed', 'shared');
    expect((await attempt('keyed', { as: 'stranger' }, asKey())).status).toBe(200);
  });
});

const withoutId = ({ id: _, inForce: __, ...outcome }: Record<string, unknown>) => outcome;
