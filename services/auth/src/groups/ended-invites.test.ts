import { asKey, asOwner } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestGroup, invite } from '../testing/groups.ts';
import { createTestBed, type Person, type TestBed } from '../testing/test-bed.ts';

type TestGroup = Awaited<ReturnType<typeof createTestGroup<'admin' | 'member'>>>;
let addresses = 0;

describe('invitations that a member has mailed', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ limits: { invitesPerIp: { max: 1000, windowMs: 1000 } } });
  });
  afterAll(() => bed.close());

  const inviteAs = ({ group }: TestGroup, { identity }: Pick<Person, 'identity'>, role: string) =>
    bed.call('POST', `/groups/${group.id}/invites`, {
      identity,
      body: { email: `invited${++addresses}@example.org`, role },
    });
  const mailAs = async (team: TestGroup, by: Pick<Person, 'identity'>, role = 'member') => {
    expect((await inviteAs(team, by, role)).status).toBe(201);
    return bed.mailedToken();
  };
  const join = async (token: string) => {
    const { identity } = await bed.signUp();
    return (await bed.call('POST', '/groups/join', { identity, body: { token } })).status;
  };
  const memberPath = ({ group }: TestGroup, { user }: Person) =>
    `/groups/${group.id}/members/${user.id}`;
  const setRole = (team: TestGroup, person: Person, role: string, by = team.owner) =>
    bed.call('PATCH', memberPath(team, person), { identity: by.identity, body: { role } });
  const listed = async ({ group }: TestGroup) =>
    (await bed.call('GET', `/groups/${group.id}/invites`, { identity: asKey() })).body.items.length;
  const team = () => createTestGroup(bed, ['admin', 'member']);

  it.each<[string, (team: TestGroup) => Promise<{ status: number }>]>([
    [
      'are removed',
      (team) =>
        bed.call('DELETE', memberPath(team, team.others.admin), { identity: team.owner.identity }),
    ],
    [
      'leave',
      (team) =>
        bed.call('DELETE', memberPath(team, team.others.admin), {
          identity: team.others.admin.identity,
        }),
    ],
    ['are an admin no more', (team) => setRole(team, team.others.admin, 'member')],
    [
      'erase their account',
      (team) => bed.call('DELETE', '/auth/me', { identity: team.others.admin.identity }),
    ],
    [
      'are erased by the project’s owner',
      (team) =>
        bed.call('DELETE', `/platform/projects/testproject/users/${team.others.admin.user.id}`, {
          identity: asOwner(),
        }),
    ],
  ])('end when they %s, and those of others do not', async (_how, end) => {
    const group = await team();
    const theirs = [
      await mailAs(group, group.others.admin),
      await mailAs(group, group.others.admin, 'admin'),
    ];
    const others = [await mailAs(group, group.owner), await mailAs(group, { identity: asKey() })];
    expect((await end(group)).status).toBe(200);
    expect(await listed(group)).toBe(2);
    for (const token of theirs) expect(await join(token)).toBe(400);
    // Whoever is an admin again begins anew.
    await setRole(group, group.others.admin, 'admin');
    for (const token of theirs) expect(await join(token)).toBe(400);
    for (const token of others) expect(await join(token)).toBe(200);
  });

  it('end as far as they may offer no more: an owner who becomes an admin makes no owners', async () => {
    const group = await team();
    const { owner, others } = group;
    await setRole(group, others.member, 'owner');
    const [asOwned, asAdmin] = [
      await mailAs(group, owner, 'owner'),
      await mailAs(group, owner, 'admin'),
    ];
    expect((await setRole(group, owner, 'admin', others.member)).status).toBe(200);
    expect([await join(asOwned), await join(asAdmin)]).toEqual([400, 200]);
  });

  it('go on when another role allows as much', async () => {
    const group = await team();
    const token = await mailAs(group, group.others.admin);
    await setRole(group, group.others.admin, 'owner');
    await setRole(group, group.others.admin, 'admin');
    expect(await join(token)).toBe(200);
  });

  it('are none, where one is mailed at the instant of the removal', async () => {
    for (let round = 0; round < 6; round++) {
      const group = await team();
      const { admin } = group.others;
      await bed.takeEvents();
      const [, removal] = await Promise.all([
        inviteAs(group, admin, 'admin'),
        bed.call('DELETE', memberPath(group, admin), { identity: group.owner.identity }),
        inviteAs(group, admin, 'admin'),
      ]);
      expect(removal.status).toBe(200);
      expect(await listed(group)).toBe(0);
      for (const { token } of await bed.take('mail.requested')) expect(await join(token)).toBe(400);
    }
  });

  it('belong to whoever has mailed the last one to an address', async () => {
    const group = await team();
    const { owner, others } = group;
    const again = (by: Person) =>
      invite(bed, { group: group.group, owner: by, email: 'same@example.org', role: 'member' });
    await again(others.admin);
    const token = await again(owner);
    await setRole(group, others.admin, 'member');
    expect(await join(token)).toBe(200);
  });
});
