import { recordRoutes } from '@backlot/contract';
import { anonymous, asOwner, asUser, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const base = `/platform/projects/${testProject.id}`;
const red = '018f0000-0000-7000-8000-000000000901';

describe('the check of access', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
    bed.people.set(ada, { role: 'user', groups: [] });
    bed.people.set(bob, { role: 'user', groups: [] });
  });
  afterAll(() => bed.close());

  const setAccess = (name: string, access: unknown) =>
    bed.call('PUT', `${base}/collections/${name}`, { identity: asOwner(), body: { access } });
  const check = (query: Record<string, string>, identity = asOwner()) =>
    bed.call('GET', `${base}/access-check?${new URLSearchParams(query)}`, { identity });

  it('tells what is allowed and by which words', async () => {
    await setAccess('papers', {
      read: ['owner', 'group', 'role:staff'],
      create: ['users'],
      change: ['owner'],
      count: ['users'],
      delete: [],
      fields: { mark: { change: ['role:staff'] } },
    });
    const { status, body } = await check({ as: `user:${ada}`, collection: 'papers' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      as: `user:${ada}`,
      read: { allowed: 'depends', by: ['owner'], rule: ['owner', 'group', 'role:staff'] },
      create: { allowed: 'yes', by: ['users'] },
      change: { allowed: 'depends', by: ['owner'] },
      delete: { allowed: 'no', by: [], rule: [] },
      count: { allowed: 'depends', by: ['users'], rule: ['owner', 'users'] },
      fields: { mark: { read: { allowed: 'yes' }, change: { allowed: 'no' } } },
    });
    const asStaff = { as: `user:${bob}`, role: 'staff', groups: red, collection: 'papers' };
    expect((await check(asStaff)).body).toMatchObject({
      read: { allowed: 'yes', by: ['role:staff'] },
      fields: { mark: { change: { allowed: 'yes', by: ['role:staff'] } } },
    });
    expect((await check({ as: 'anonymous', collection: 'papers' })).body).toMatchObject({
      read: { allowed: 'no', by: [] },
      create: { allowed: 'no', by: [] },
      change: { allowed: 'no' },
    });
  });

  it('knows the role and the groups of the user, and what it were like with others', async () => {
    const carol = '018f0000-0000-7000-8000-0000000000c1';
    bed.people.set(carol, { role: 'staff', groups: [{ id: red, role: 'member' }] });
    const rules = { read: ['group', 'role:staff'], create: ['role:boss'], change: ['group'] };
    await setAccess('papers', rules);
    const asked = { as: `user:${carol}`, collection: 'papers' };
    const allowed = async (query: Record<string, string>) => {
      const { read, create, change } = (await check({ ...asked, ...query })).body;
      return [read, create, change].map((decision) => decision.allowed);
    };
    expect(await allowed({})).toEqual(['yes', 'no', 'depends']);
    expect(await allowed({ role: 'boss' })).toEqual(['depends', 'yes', 'depends']);
    expect(await allowed({ role: 'user', groups: '' })).toEqual(['no', 'no', 'no']);
    const stranger = { as: `user:${red}`, collection: 'papers' };
    expect(await check(stranger)).toMatchObject({
      status: 404,
      body: { error: 'There is no such user.' },
    });
    expect((await check({ ...stranger, role: 'staff', groups: red })).status).toBe(200);
    const elsewhere = { ...testProject, id: 'elsewhere', number: 1002 };
    await bed.call('PUT', '/platform/projects/elsewhere/collections/papers', {
      identity: asOwner({ project: elsewhere }),
      body: { access: rules },
    });
    const path = `/platform/projects/elsewhere/access-check?${new URLSearchParams(asked)}`;
    const other = await bed.call('GET', path, { identity: asOwner({ project: elsewhere }) });
    expect(other.status).toBe(404);
  });

  it('says of a record what the record itself answers', async () => {
    await setAccess('papers', 'shared');
    const { id } = await bed.create('papers', { n: 1 }, asUser(ada));
    await bed.database.query('UPDATE records SET group_id = $1 WHERE id = $2', [red, id]);
    await setAccess('papers', { read: ['owner', 'group'], create: [], change: ['owner'] });
    const member = { groups: [{ id: red, role: 'member' }] };
    const cases = [
      [{ as: `user:${ada}` }, asUser(ada), ['owner'], 200, 200],
      [{ as: `user:${bob}`, groups: red }, asUser(bob, member), ['group'], 200, 403],
      [{ as: `user:${bob}` }, asUser(bob), [], 404, 404],
      [{ as: 'anonymous' }, anonymous(), [], 401, 401],
    ] as const;
    for (const [who, identity, by, read, change] of cases) {
      const { body } = await check({ ...who, collection: 'papers', record: id });
      const path = `/db/papers/${id}`;
      const patched = await bed.call('PATCH', path, { identity, body: { data: {} } });
      expect([(await bed.call('GET', path, { identity })).status, patched.status]).toEqual([
        read,
        change,
      ]);
      expect(body).toMatchObject({
        read: { allowed: read === 200 ? 'yes' : 'no', by },
        change: { allowed: change === 200 ? 'yes' : 'no' },
      });
      const { error, hint } = patched.body;
      if (change === 403) {
        expect(error).toBe('You may not change this record.');
        expect(hint).toContain('the rule for "change" is: owner.');
        expect(hint).toContain(`PUT /api${base}/collections/papers {"access"`);
      } else if (change !== 200) expect(hint ?? '').not.toContain('rule');
    }
  });

  it('names what is wrong with a question', async () => {
    await setAccess('papers', 'private');
    const asked = { as: 'anonymous', collection: 'papers' };
    for (const [query, status, message] of [
      [{ ...asked, as: 'ada' }, 400, '"as" must be "anonymous" or "user:<id>"'],
      [{ ...asked, groups: 'red' }, 400, '"groups" must be at most 100 ids'],
      [{ ...asked, collection: 'nothing' }, 404, 'There is no such collection.'],
      [{ ...asked, record: 'x' }, 404, 'There is no such record.'],
      [{ ...asked, record: red }, 404, 'There is no such record.'],
    ] as const) {
      const answer = await check(query);
      expect(answer).toMatchObject({ status });
      expect(answer.body.error).toContain(message);
    }
  });

  it('knows conditions, roles in groups and verified addresses, of any record and of one', async () => {
    const mine = { to: ['users'], where: { who: '$caller.id' } };
    const rules = {
      read: ['group', mine],
      create: ['verified', { to: ['users'], where: { open: true } }],
      change: ['group:admin'],
    };
    await setAccess('sheets', rules);
    const create = (data: object) => ({ identity: asOwner(), body: { data, groupId: red } });
    const { body: made } = await bed.call('POST', '/db/sheets', create({ who: ada }));
    const ask = async (query: Record<string, string>) => {
      const { status, body } = await check({ as: `user:${ada}`, collection: 'sheets', ...query });
      expect(status).toBe(200);
      const { read, create, change } = body;
      return [read.allowed, read.by, create.allowed, create.by, change.allowed];
    };
    expect(await ask({})).toEqual(['depends', [mine], 'depends', [rules.create[1]], 'no']);
    const admin = { groups: `${red}:admin`, verified: '1' };
    const both = ['group', mine];
    expect(await ask(admin)).toEqual(['depends', both, 'yes', ['verified'], 'depends']);
    const record = { record: made.id };
    expect(await ask(record)).toEqual(['yes', [mine], 'depends', [rules.create[1]], 'no']);
    const all = { ...record, ...admin };
    expect(await ask(all)).toEqual(['yes', both, 'yes', ['verified'], 'yes']);
    expect(await ask({ ...record, groups: red })).toEqual(
      expect.arrayContaining(['yes', both, 'no']),
    );
    expect((await ask({ as: 'anonymous' })).slice(0, 2)).toEqual(['no', []]);
  });

  it('names what is wrong with rules', async () => {
    const rules = { read: ['users'], create: ['users'], change: ['owner'] };
    for (const [access, message] of [
      ['open', '"access" must be one of shared, public-read'],
      [
        { ...rules, read: ['everyone'] },
        '"access.read.0" must be one of anyone, users, verified, owner',
      ],
      [
        { ...rules, create: ['owner'] },
        '"access.create.0" must be one of anyone, users, verified, group',
      ],
      [{ read: ['users'] }, 'create"'],
      [{ ...rules, fields: { 'a.b': { read: [] } } }, 'names a field at the top of the data'],
      [{ ...rules, fields: { ownerId: { read: [] } } }, 'one of the record’s own fields'],
      [{ ...rules, fields: { a: {} } }, 'needs "read", "create" or "change"'],
      [{ ...rules, write: [] }, 'write'],
    ] as const) {
      const answer = await setAccess('papers', access);
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
      expect(answer.body.error).toContain(message);
    }
  });

  refusesStrangers(
    recordRoutes.checkAccess,
    () => bed.http,
    () => ({ path: `/projects/${testProject.id}/access-check?as=anonymous&collection=papers` }),
  );
});
