import { groupRoutes } from '@backlot/contract';
import {
  asKey,
  asOperator,
  asOwner,
  refusesStrangers,
  type TestAnswer,
  testProject,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestGroup, join } from '../testing/groups.ts';
import { createTestBed, otherProject, type Person, type TestBed } from '../testing/test-bed.ts';

const unknownId = '018f0000-0000-7000-8000-000000000001';
const projectNumber = testProject.number;

describe('members of a group', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    groupRoutes.listGroupMembers,
    () => bed.http,
    () => ({ path: `/groups/${unknownId}/members` }),
  );
  refusesStrangers(
    groupRoutes.updateGroupMember,
    () => bed.http,
    () => ({ path: `/groups/${unknownId}/members/${unknownId}`, body: { role: 'admin' } }),
  );
  refusesStrangers(
    groupRoutes.removeGroupMember,
    () => bed.http,
    () => ({ path: `/groups/${unknownId}/members/${unknownId}` }),
  );

  type Who = Pick<Person, 'identity'>;
  const setRole = (groupId: string, who: Who, { user }: Person, role: string) =>
    bed.call('PATCH', `/groups/${groupId}/members/${user.id}`, { ...who, body: { role } });
  const remove = (groupId: string, { identity }: Who, { user }: Person) =>
    bed.call('DELETE', `/groups/${groupId}/members/${user.id}`, { identity });
  const groupsOf = async ({ sessionId }: Person) => (await bed.findSession(sessionId))?.groups;
  const statusOf = async (answer: Promise<TestAnswer>) => (await answer).status;

  it('are shown to members, without addresses, and to nobody else', async () => {
    const { group, owner, others } = await createTestGroup(bed, ['member']);
    const path = `/groups/${group.id}/members`;
    const { status, body } = await bed.call('GET', path, { identity: others.member.identity });
    expect(status).toBe(200);
    expect(body.items).toEqual([
      {
        id: others.member.user.id,
        name: 'The member',
        avatar: null,
        role: 'member',
        joinedAt: expect.any(String),
      },
      {
        id: owner.user.id,
        name: 'Olga',
        avatar: null,
        role: 'owner',
        joinedAt: expect.any(String),
      },
    ]);
    expect(JSON.stringify(body)).not.toContain('@');
    const { identity } = await bed.signUp();
    const elsewhere = asKey({ project: otherProject });
    for (const as of [identity, { ...owner.identity, project: otherProject }, elsewhere])
      expect((await bed.call('GET', path, { identity: as })).status).toBe(404);
    for (const as of [asOwner(), asKey(), asOperator()])
      expect((await bed.call('GET', path, { identity: as })).body.items).toHaveLength(2);
    const first = await bed.call('GET', `${path}?limit=1`, { identity: owner.identity });
    const second = await bed.call(
      'GET',
      `${path}?limit=1&cursor=${encodeURIComponent(first.body.nextCursor)}`,
      { identity: owner.identity },
    );
    expect([...first.body.items, ...second.body.items]).toEqual(body.items);
    expect(second.body.hasMore).toBe(false);
  });

  it('get other roles by owners and admins, and know them at once', async () => {
    const { group, owner, others } = await createTestGroup(bed, ['admin', 'member']);
    const { admin, member } = others;
    expect(await setRole(group.id, admin, member, 'viewer')).toMatchObject({
      status: 200,
      body: { id: member.user.id, role: 'viewer' },
    });
    expect(await bed.takeEvents()).toEqual([
      { topic: 'user.changed', payload: { projectNumber, userIds: [member.user.id] } },
    ]);
    expect(await groupsOf(member)).toEqual([{ id: group.id, role: 'viewer' }]);
    const by = (who: Who, whom: Person, role: string) =>
      statusOf(setRole(group.id, who, whom, role));
    const stranger = await bed.signUp();
    expect(await by(stranger, member, 'admin')).toBe(404);
    expect(await by({ identity: asKey({ project: otherProject }) }, member, 'admin')).toBe(404);
    expect(await by(member, member, 'admin')).toBe(403);
    expect(await by(admin, admin, 'owner')).toBe(403);
    expect(await by(admin, owner, 'member')).toBe(403);
    expect(await by(owner, owner, 'member')).toBe(409);
    expect(await by(owner, stranger, 'member')).toBe(404);
    expect(await by(owner, admin, 'Not A Role')).toBe(400);
    expect(await by(owner, admin, 'owner')).toBe(200);
    expect(await by(owner, owner, 'member')).toBe(200);
    expect(await by({ identity: asKey() }, owner, 'owner')).toBe(200);
  });

  it('leave, or are removed by owners and admins, and lose the group at once', async () => {
    const { group, owner, others } = await createTestGroup(bed, ['admin', 'member', 'guest']);
    const { admin, member, guest } = others;
    const by = (who: Who, whom: Person) => statusOf(remove(group.id, who, whom));
    const stranger = await bed.signUp();
    await bed.takeEvents();
    expect(await by(stranger, member)).toBe(404);
    expect(await by(stranger, stranger)).toBe(404);
    expect(await by({ identity: asKey({ project: otherProject }) }, member)).toBe(404);
    expect(await by(member, guest)).toBe(403);
    expect(await by(admin, owner)).toBe(403);
    expect(await by(owner, owner)).toBe(409);
    expect(await by(guest, guest)).toBe(200);
    expect(await bed.takeEvents()).toEqual([
      { topic: 'user.changed', payload: { projectNumber, userIds: [guest.user.id] } },
    ]);
    expect(await by(admin, member)).toBe(200);
    expect(await by(admin, member)).toBe(404);
    for (const person of [guest, member]) expect(await groupsOf(person)).toEqual([]);
    expect(await by({ identity: asOwner() }, admin)).toBe(200);
    for (const id of ['nonsense', '%00']) {
      const path = `/groups/${group.id}/members/${id}`;
      expect((await bed.call('DELETE', path, { identity: owner.identity })).status).toBe(404);
    }
  });

  it('never leave a group without an owner, in parallel too', async () => {
    const { group, owner, others } = await createTestGroup(bed, ['owner']);
    const answers = await Promise.all([
      remove(group.id, owner, owner),
      remove(group.id, others.owner, others.owner),
      setRole(group.id, owner, owner, 'member'),
    ]);
    const { body } = await bed.call('GET', `/groups/${group.id}/members`, { identity: asKey() });
    const owners = body.items.filter(({ role }: { role: string }) => role === 'owner');
    expect(owners).toHaveLength(1);
    expect(answers.some(({ status }) => status === 409 || status === 404)).toBe(true);
  });

  it('inherit a group whose only owner is erased: the oldest admin, else the oldest member', async () => {
    const { group, owner, others } = await createTestGroup(bed, ['member', 'admin', 'guest']);
    const erase = ({ identity }: Person) => bed.call('DELETE', '/auth/me', { identity });
    expect((await erase(owner)).status).toBe(200);
    expect(await groupsOf(others.admin)).toEqual([{ id: group.id, role: 'owner' }]);
    const [event] = await bed.take('user.changed');
    expect(event).toEqual({ projectNumber, userIds: [others.admin.user.id] });
    await erase(others.admin);
    expect(await groupsOf(others.member)).toEqual([{ id: group.id, role: 'owner' }]);
    await erase(others.guest);
    await erase(others.member);
    expect(
      await bed.database.query('SELECT FROM groups WHERE project_number = $1 AND id = $2', [
        projectNumber,
        group.id,
      ]),
    ).toEqual([]);
  });
});

describe('findUsers', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    groupRoutes.findUsers,
    () => bed.http,
    () => ({ path: `/users?ids=${unknownId}` }),
  );

  const find = async (ids: string[], identity: Person['identity']) => {
    const { body } = await bed.call('GET', `/users?ids=${ids.join(',')}`, { identity });
    return body.items;
  };

  const withOwnGroups = (person: Person): Person['identity'] => ({
    ...person.identity,
    project: { ...person.identity.project, settings: { publicProfiles: false } },
  });

  it('shows what others may see of any user of the project, and never an address', async () => {
    const [ada, stranger] = [await bed.signUp({ name: 'Ada' }), await bed.signUp()];
    const elsewhere = await bed.signUp({ project: otherProject, name: 'Eve' });
    const body = { publicProfile: { bio: 'Writes', links: ['https://ada.example'] } };
    const changed = await bed.call('PATCH', '/auth/me', { identity: ada.identity, body });
    expect(changed.body.user.publicProfile).toEqual(body.publicProfile);
    const asked = [ada.user.id, elsewhere.user.id, unknownId];
    for (const identity of [stranger.identity, asOwner(), asKey()])
      expect(await find(asked, identity)).toEqual([
        { id: ada.user.id, name: 'Ada', avatar: null, ...body },
      ]);
    await bed.call('DELETE', '/auth/me', { identity: ada.identity });
    expect(await find(asked, stranger.identity)).toEqual([]);
  });

  it('shows others nothing of who is blocked', async () => {
    const [ada, stranger] = [await bed.signUp({ name: 'Ada' }), await bed.signUp()];
    const { id } = ada.user;
    const body = { blocked: true, until: new Date(bed.clock.now() + 60_000).toISOString() };
    await bed.call('PATCH', `/users/${id}`, { identity: asOwner(), body });
    const named = { id, name: 'Ada', avatar: null, publicProfile: {} };
    expect(await find([id], stranger.identity)).toEqual([{ ...named, name: null }]);
    for (const identity of [ada.identity, asOwner()])
      expect(await find([id], identity)).toEqual([named]);
    bed.clock.pass(60_001);
    expect(await find([id], stranger.identity)).toEqual([named]);
  });

  it('shows oneself and those with whom one shares a group where profiles are not public', async () => {
    const { group, owner, others } = await createTestGroup(bed, ['member']);
    const stranger = await bed.signUp({ name: 'Sam' });
    const ids = [owner, others.member, stranger].map(({ user }) => user.id);
    const asked = [...ids, unknownId, 'nonsense', '%00', ''];
    const shown = await find(asked, withOwnGroups(owner));
    const rest = { avatar: null, publicProfile: {} };
    expect(shown).toHaveLength(2);
    expect(shown).toContainEqual({ id: ids[0], name: 'Olga', ...rest });
    expect(shown).toContainEqual({ id: ids[1], name: 'The member', ...rest });
    expect(await find(asked, withOwnGroups(stranger))).toEqual([
      { id: stranger.user.id, name: 'Sam', ...rest },
    ]);
    expect(await find(asked, stranger.identity)).toHaveLength(3);
    for (const as of [asKey(), asOwner(), asOperator()])
      expect(await find(asked, as)).toHaveLength(3);
    expect(await find(asked, asKey({ project: otherProject }))).toEqual([]);
    expect(await find(asked, { ...owner.identity, project: otherProject })).toEqual([]);
    await bed.call('DELETE', `/groups/${group.id}/members/${others.member.user.id}`, {
      identity: owner.identity,
    });
    expect(await find(asked, withOwnGroups(owner))).toHaveLength(1);
  });

  it('shows the picture that one has chosen', async () => {
    const { group, owner } = await createTestGroup(bed);
    const person = await bed.signUp();
    await join(bed, { group, owner, person, role: 'member' });
    const body = { avatar: unknownId };
    const changed = await bed.call('PATCH', '/auth/me', { identity: person.identity, body });
    expect(changed.body.user.avatar).toBe(unknownId);
    expect(await find([person.user.id], owner.identity)).toEqual([
      { id: person.user.id, name: null, avatar: unknownId, publicProfile: {} },
    ]);
    const wrong = { identity: person.identity, body: { avatar: 'https://evil.example/x.png' } };
    expect((await bed.call('PATCH', '/auth/me', wrong)).status).toBe(400);
  });

  it('takes 1 to 100 ids', async () => {
    const { identity } = await bed.signUp();
    for (const query of ['?ids=', `?ids=${Array(101).fill(unknownId).join(',')}`]) {
      expect(await bed.call('GET', `/users${query}`, { identity })).toMatchObject({
        status: 400,
        body: { code: 'invalid_query' },
      });
    }
    expect(await find(Array(100).fill(unknownId), identity)).toEqual([]);
  });
});

describe('moderateUser, for roles', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    groupRoutes.moderateUser,
    () => bed.http,
    () => ({ path: `/users/${unknownId}`, body: { role: 'staff' } }),
  );

  it('is for the owner and the operator, never for a key, and acts at once', async () => {
    const { user, sessionId, identity } = await bed.signUp({ name: 'Ada' });
    await bed.takeEvents();
    const set = (as: Person['identity'], role: string, id = user.id) =>
      bed.call('PATCH', `/users/${id}`, { identity: as, body: { role } });
    for (const [as, role] of [
      [asOwner(), 'admin'],
      [asOperator(), 'editor'],
    ] as const) {
      const { status, body } = await set(as, role);
      expect([status, body]).toEqual([200, { id: user.id, name: 'Ada', avatar: null, role }]);
      expect(await bed.takeEvents()).toEqual([
        { topic: 'user.changed', payload: { projectNumber, userIds: [user.id] } },
      ]);
      expect(await bed.findSession(sessionId)).toMatchObject({ role, groups: [] });
    }
    const asAdmin = { ...identity, role: 'admin' };
    expect((await set(asAdmin, 'staff')).status).toBe(403);
    expect(await set(asKey(), 'staff')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect((await set(asOwner({ project: otherProject }), 'staff')).status).toBe(404);
    expect((await set(asOwner(), 'staff', 'nonsense')).status).toBe(404);
    expect((await set(asOwner(), 'Not A Role')).status).toBe(400);
    expect(await bed.findSession(sessionId)).toMatchObject({ role: 'editor', groups: [] });
  });

  it('is nothing that a user can do for themselves by any other call', async () => {
    const { identity, sessionId } = await bed.signUp();
    const body = { name: 'Ada', role: 'admin' };
    expect((await bed.call('PATCH', '/auth/me', { identity, body })).status).toBe(400);
    const signedUp = await bed.call('POST', '/auth/signup', {
      body: { email: 'role@example.org', password: 'a good long password', role: 'admin' },
    });
    expect(signedUp.body.user.role).toBe('user');
    expect(await bed.findSession(sessionId)).toMatchObject({ role: 'user', groups: [] });
  });
});
