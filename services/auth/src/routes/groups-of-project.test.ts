import { anonymous, asKey, asOperator, asOwner } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestGroup } from '../testing/groups.ts';
import { createTestBed, hourMs, otherProject, type TestBed } from '../testing/test-bed.ts';

const projectCallers = [
  ['owner', asOwner()],
  ['key', asKey()],
  ['operator', asOperator()],
] as const;
const unknownId = '018f0000-0000-7000-8000-000000000001';

describe('groups, to the project’s own callers', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ limits: { groupsPerIp: { max: 1, windowMs: hourMs } } });
  });
  afterAll(() => bed.close());

  it.each(projectCallers)(
    'are made by the %s for the user whom they name, or with nobody in it',
    async (_caller, identity) => {
      const { user, sessionId } = await bed.signUp();
      const create = (body: object) => bed.call('POST', '/groups', { identity, body });
      const made = await create({ name: 'Red', ownerId: user.id });
      expect(made).toMatchObject({ status: 201, body: { name: 'Red', role: null } });
      const groups = [{ id: made.body.id, role: 'owner' }];
      expect((await bed.findSession(sessionId))?.groups).toEqual(groups);

      const empty = await create({ name: 'Blue' });
      expect(empty.status).toBe(201);
      const members = () => bed.call('GET', `/groups/${empty.body.id}/members`, { identity });
      expect((await members()).body.items).toEqual([]);
      await bed.takeEvents();
      const invited = await bed.call('POST', `/groups/${empty.body.id}/invites`, {
        identity,
        body: { email: 'first@example.org', role: 'owner' },
      });
      expect(invited).toMatchObject({ status: 201, body: { role: 'owner' } });
      const [mail] = await bed.take('mail.requested');
      expect(mail?.group).toEqual({ name: 'Blue', invitedBy: null });
      const person = await bed.signUp();
      const body = { token: mail?.token };
      const joined = await bed.call('POST', '/groups/join', { identity: person.identity, body });
      expect(joined).toMatchObject({ status: 200, body: { role: 'owner' } });
      expect((await members()).body.items).toMatchObject([{ id: person.user.id, role: 'owner' }]);
    },
  );

  it.each(projectCallers)(
    'are changed, emptied and deleted by the %s',
    async (_caller, identity) => {
      const { group, others } = await createTestGroup(bed, ['member']);
      const path = `/groups/${group.id}`;
      const { id } = others.member.user;
      const invite = await bed.call('POST', `${path}/invites`, {
        identity,
        body: { email: 'x@example.org' },
      });
      const steps = [
        ['PATCH', path, { name: 'Blue' }],
        ['GET', `${path}/invites`],
        ['DELETE', `${path}/invites/${invite.body.id}`],
        ['PATCH', `${path}/members/${id}`, { role: 'owner' }],
        ['DELETE', `${path}/members/${id}`],
        ['DELETE', path],
      ] as const;
      for (const [method, at, body] of steps)
        expect([method, at, (await bed.call(method, at, { identity, body })).status]).toEqual([
          method,
          at,
          200,
        ]);
      bed.clock.pass(hourMs);
    },
  );

  it('have no owner who is nobody’s account here, and none whom a user names', async () => {
    const { identity, user } = await bed.signUp();
    const stranger = await bed.signUp({ project: otherProject });
    const create = (ownerId: unknown, as = asOwner()) =>
      bed.call('POST', '/groups', { identity: as, body: { name: 'Red', ownerId } });
    const count = async () => (await bed.database.query('SELECT FROM groups')).length;
    const before = await count();
    for (const ownerId of [unknownId, stranger.user.id, 'x', null, 7])
      expect(await create(ownerId)).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect((await create(stranger.user.id, identity)).body.code).toBe('forbidden');
    expect((await create(user.id, anonymous())).status).toBe(401);
    expect(await count()).toBe(before);
    bed.clock.pass(hourMs);
    expect((await create(user.id, identity)).status).toBe(201);
  });

  it('of another project are not there', async () => {
    const { group } = await createTestGroup(bed);
    const body = { email: 'x@example.org' };
    for (const [, own] of projectCallers) {
      const identity = { ...own, project: otherProject };
      const answer = await bed.call('POST', `/groups/${group.id}/invites`, { identity, body });
      expect(answer.status).toBe(404);
    }
    bed.clock.pass(hourMs);
  });
});
