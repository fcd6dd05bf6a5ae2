import { randomUUID } from 'node:crypto';
import { projectRoutes } from '@backlot/contract';
import { asOwner, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createMemberCalls, cyd, setAddresses } from '../testing/member-calls.ts';
import { createTestBed, ownerA, ownerB, platform, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
  setAddresses(bed);
});
afterAll(() => bed.close());

const { asMember, call, invite, join, members, withToken } = createMemberCalls(() => bed);

describe('a member', () => {
  it('finds the project in the list and reads it, with the role', async () => {
    const id = await bed.project();
    await join(id, ada, 'viewer');
    const listed = await bed.call('GET', '/platform/projects', {
      identity: asOwner({ userId: ada, project: platform }),
    });
    expect(listed.body.items).toContainEqual(
      expect.objectContaining({ id, role: 'viewer', ownerId: ownerA }),
    );
    expect((await call(ada, id, 'GET', '')).body).toMatchObject({ id, role: 'viewer' });
    expect((await call(ownerA, id, 'GET', '')).body).toMatchObject({ id, role: 'owner' });
    expect((await call(ada, id, 'GET', '/members')).body).toMatchObject({
      items: [
        { userId: ownerA, email: 'olga@example.org', role: 'owner' },
        { userId: ada, email: 'ada@example.org', role: 'viewer' },
      ],
    });
    await call(ownerA, id, 'DELETE', '');
    const after = await bed.call('GET', '/platform/projects', {
      identity: asOwner({ userId: ada, project: platform }),
    });
    expect(after.body.items).not.toContainEqual(expect.objectContaining({ id }));
  });

  it('has another role or none at once, and is told to gateways', async () => {
    const id = await bed.project();
    await join(id, ada, 'viewer');
    await bed.takeEvents();
    expect(await call(ownerA, id, 'PATCH', `/members/${ada}`, { role: 'admin' })).toMatchObject({
      status: 200,
      body: { userId: ada, role: 'admin' },
    });
    expect(await members(id)).toEqual({ [ada]: 'admin' });
    const identity = await asMember(ada, id);
    expect((await call(ownerA, id, 'DELETE', `/members/${ada}`)).status).toBe(200);
    expect(await members(id)).toBeUndefined();
    const told = (await bed.takeEvents()).filter(({ topic }) => topic === 'project.changed');
    expect(told).toHaveLength(2);
    // Also while a gateway still takes them for one.
    for (const [method, rest, body] of [
      ['GET', '', undefined],
      ['POST', '/keys', { name: 'Back door' }],
      ['POST', '/invitations', { email: 'cyd@example.org', role: 'admin' }],
      ['PATCH', `/members/${ada}`, { role: 'admin' }],
    ] as const) {
      const answer = await bed.call(method, `/platform/projects/${id}${rest}`, { identity, body });
      expect(answer).toMatchObject({ status: 404, body: { code: 'project_not_found' } });
    }
  });

  it('who is sent away, or may invite no more, leaves no invitation behind', async () => {
    for (const change of ['removed', 'demoted', 'left']) {
      const id = await bed.project();
      await join(id, ada, 'admin');
      const { token } = await invite(id, { email: 'bob@example.org', role: 'admin', by: ada });
      if (change === 'removed') await call(ownerA, id, 'DELETE', `/members/${ada}`);
      if (change === 'demoted')
        await call(ownerA, id, 'PATCH', `/members/${ada}`, { role: 'editor' });
      if (change === 'left') await call(ada, id, 'POST', '/leave');
      expect(await withToken(bob, 'accept', token)).toMatchObject({
        body: { code: 'invalid_link' },
      });
    }
  });

  it('can leave; the owner can not, and nobody changes or removes the owner', async () => {
    const id = await bed.project();
    await join(id, ada, 'admin');
    for (const [by, method, rest, body] of [
      [ownerA, 'POST', '/leave', undefined],
      [ada, 'DELETE', `/members/${ownerA}`, undefined],
      [ada, 'PATCH', `/members/${ownerA}`, { role: 'viewer' }],
    ] as const) {
      expect(await call(by, id, method, rest, body)).toMatchObject({
        status: 403,
        body: { code: 'forbidden' },
      });
    }
    expect((await call(ada, id, 'POST', '/leave')).status).toBe(200);
    expect(await members(id)).toBeUndefined();
  });

  it('is in no other project, whatever its id', async () => {
    const [own, other] = [await bed.project(), await bed.project(ownerB)];
    await join(own, ada, 'admin');
    const made = await invite(other, { email: 'bob@example.org', by: ownerB });
    const identity = await asMember(ada, own);
    for (const [method, rest] of [
      ['GET', ''],
      ['GET', '/members'],
      ['DELETE', `/invitations/${made.answer.body.id}`],
    ] as const) {
      const path = `/platform/projects/${other}${rest}`;
      expect((await bed.call(method, path, { identity })).status).toBe(404);
      const forged = { ...(await bed.owner(ada, other)), memberRole: 'admin' as const };
      expect((await bed.call(method, path, { identity: forged })).status).toBe(404);
    }
    const ofOwn = `/platform/projects/${own}/invitations/${made.answer.body.id}`;
    expect((await bed.call('DELETE', ofOwn, { identity })).status).toBe(404);
    expect((await withToken(bob, 'accept', made.token)).status).toBe(200);
  });

  it('pays with nothing of their own: a preview is made for the owner, and has the members', async () => {
    const id = await bed.project();
    await join(id, ada, 'admin');
    const made = await call(ada, id, 'POST', '/preview', {});
    expect(made).toMatchObject({ status: 201, body: { project: { ownerId: ownerA } } });
    const preview = String((made.body.project as { id: string }).id);
    expect(await members(preview)).toEqual({ [ada]: 'admin' });
    expect((await call(ada, preview, 'GET', '')).body).toMatchObject({ role: 'admin' });
    expect((await call(ada, preview, 'GET', '/members')).body.items).toHaveLength(2);
    expect((await call(ownerA, preview, 'DELETE', `/members/${ada}`)).body).toMatchObject({
      code: 'conflict',
    });
    await bed.takeEvents();
    await call(ownerA, id, 'DELETE', `/members/${ada}`);
    expect((await bed.takeEvents()).map(({ payload }) => payload)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ projectId: id }),
        expect.objectContaining({ projectId: preview }),
      ]),
    );
    expect(await members(preview)).toBeUndefined();
  });
});

describe('what becomes of accounts', () => {
  let started: TestBed;
  beforeAll(async () => {
    started = await createTestBed();
    await started.service.start();
  });
  afterAll(() => started.close());
  const find = (id: string) => started.service.directories.projects.findProject(id);
  const projectWith = async (...rows: [string, string][]) => {
    const id = await started.project();
    const { number } = (await find(id)) ?? { number: 0 };
    for (const [userId, role] of rows)
      await started.database.query(
        "INSERT INTO project_members VALUES ($1, $2, $3, 'former@example.org', now())",
        [number, userId, role],
      );
    return id;
  };
  const tell = (topic: 'user.erased' | 'user.verified', userId: string, email: string) =>
    started.publish({
      id: randomUUID(),
      topic,
      payload: { projectId: 'platform', projectNumber: 1, userId, email },
    });

  it('who is erased is no member any more; with the owner the project goes', async () => {
    const id = await projectWith([ada, 'editor'], [bob, 'admin']);
    await tell('user.erased', ada, 'ada@example.org');
    expect((await find(id))?.members).toEqual({ [bob]: 'admin' });
    await tell('user.erased', ownerA, 'olga@example.org');
    expect((await find(id))?.status).toBe('deleted');
  });

  it('a member has the address that the account has shown last', async () => {
    const id = await projectWith([cyd, 'viewer']);
    await tell('user.verified', cyd, 'new@example.org');
    const { body } = await started.call('GET', `/platform/projects/${id}/members`, {
      identity: await started.owner(ownerA, id),
    });
    expect(body.items).toContainEqual(expect.objectContaining({ email: 'new@example.org' }));
  });
});

describe('routes of members', () => {
  let still: TestBed;
  beforeAll(async () => {
    still = await createTestBed();
  });
  afterAll(() => still.close());
  for (const [route, rest, body] of [
    [projectRoutes.listMembers, '/members', undefined],
    [projectRoutes.setMemberRole, `/members/${ada}`, { role: 'admin' }],
    [projectRoutes.removeMember, `/members/${ada}`, undefined],
    [projectRoutes.leaveProject, '/leave', undefined],
    [projectRoutes.inviteMember, '/invitations', { email: 'a@example.org', role: 'admin' }],
    [projectRoutes.listMemberInvitations, '/invitations', undefined],
    [projectRoutes.resendMemberInvitation, `/invitations/${ada}/resend`, undefined],
    [projectRoutes.revokeMemberInvitation, `/invitations/${ada}`, undefined],
  ] as const) {
    const request = () => ({ path: `/projects/testproject${rest}`, body });
    refusesStrangers(route, () => still.http, request);
  }
  for (const route of [projectRoutes.showMemberInvitation, projectRoutes.acceptMemberInvitation])
    refusesStrangers(
      route,
      () => still.http,
      () => ({ path: route.path, body: { token: 'x' } }),
    );
});
