import { randomUUID } from 'node:crypto';
import { type Payload, projectRoutes, type RouteDefinition } from '@backlot/contract';
import { asOwner, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  dayMs,
  ownerA,
  ownerB,
  platform,
  type TestBed,
} from '../testing/test-bed.ts';

const account = (last: string) => `018f0000-0000-7000-8000-0000000000${last}`;
const [ada, bob, cyd] = [account('c1'), account('c2'), account('c3')];
const addresses: Record<string, string> = {
  [ownerA]: 'olga@example.org',
  [ownerB]: 'otto@example.org',
  [ada]: 'ada@example.org',
  [bob]: 'bob@example.org',
  [cyd]: 'cyd@example.org',
};

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
  for (const [userId, email] of Object.entries(addresses)) bed.owners.addresses.set(userId, email);
});
afterAll(() => bed.close());

const asMember = async (userId: string, projectId: string) => {
  const identity = await bed.owner(userId, projectId);
  const { members = {} } = (await bed.service.directories.projects.findProject(projectId)) ?? {};
  const memberRole = members[userId];
  return memberRole ? { ...identity, memberRole } : identity;
};
const call = async (
  userId: string,
  projectId: string,
  method: RouteDefinition['method'],
  rest: string,
  body?: unknown,
) =>
  bed.call(method, `/platform/projects/${projectId}${rest}`, {
    identity: await asMember(userId, projectId),
    body,
  });
const withToken = (userId: string, does: 'show' | 'accept', token: string, headers = {}) =>
  bed.call('POST', `/platform/invitations/${does}`, {
    identity: asOwner({ userId, project: platform }),
    body: { token },
    headers,
  });
const invite = async (
  projectId: string,
  { email = 'ada@example.org', role = 'editor', by = ownerA, ip = '192.0.2.1' } = {},
) => {
  await bed.takeEvents();
  const answer = await bed.call('POST', `/platform/projects/${projectId}/invitations`, {
    identity: { ...(await asMember(by, projectId)), ip },
    body: { email, role },
  });
  const mails = (await bed.takeEvents()).filter(({ topic }) => topic === 'member.invited');
  const { token = '' } = (mails.at(-1)?.payload ?? {}) as Partial<Payload<'member.invited'>>;
  return { answer, token, mails };
};
const join = async (projectId: string, userId: string, role = 'editor') => {
  // Each from somewhere else, and each address a few times a day.
  bed.pass(dayMs);
  const email = addresses[userId] ?? '';
  const { token } = await invite(projectId, { email, role });
  const answer = await withToken(userId, 'accept', token);
  expect(answer).toMatchObject({ status: 200, body: { id: projectId, role } });
  return token;
};
const members = async (projectId: string) =>
  (await bed.service.directories.projects.findProject(projectId))?.members;

describe('an invitation', () => {
  it('is mailed with a token of which only a hash is kept, and makes its address a member', async () => {
    const id = await bed.project();
    const { answer, token, mails } = await invite(id);
    expect(answer).toMatchObject({
      status: 201,
      body: { email: 'ada@example.org', role: 'editor' },
    });
    expect(JSON.stringify(answer.body)).not.toContain(token);
    expect(mails).toMatchObject([
      { payload: { to: 'ada@example.org', invitedBy: 'olga@example.org', role: 'editor' } },
    ]);
    expect(token).toMatch(/^[\w-]{43}$/);
    const kept = await bed.database.acrossProjects(() =>
      bed.database.query('SELECT * FROM member_invitations'),
    );
    expect(JSON.stringify(kept)).not.toContain(token);
    expect(await withToken(ada, 'show', token)).toMatchObject({
      status: 200,
      body: { project: { id }, role: 'editor', invitedBy: 'olga@example.org', isForYou: true },
    });
    expect(await withToken(bob, 'show', token)).toMatchObject({ body: { isForYou: false } });
    expect(await withToken(ada, 'accept', token)).toMatchObject({
      status: 200,
      body: { id, ownerId: ownerA, role: 'editor' },
    });
    expect(await members(id)).toEqual({ [ada]: 'editor' });
    expect((await bed.takeEvents()).map(({ topic }) => topic)).toContain('project.changed');
    expect(await withToken(ada, 'accept', token)).toMatchObject({ body: { code: 'invalid_link' } });
  });

  it('opens to no other account, and stays good for the right one', async () => {
    const id = await bed.project();
    const { token } = await invite(id, { ip: '192.0.2.2' });
    expect(await withToken(bob, 'accept', token)).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
    bed.owners.unverified.add(ada);
    expect(await withToken(ada, 'accept', token)).toMatchObject({
      status: 403,
      body: { code: 'verify_first' },
    });
    bed.owners.unverified.delete(ada);
    expect(await members(id)).toBeUndefined();
    expect((await withToken(ada, 'accept', token)).status).toBe(200);
  });

  it('is good once, whoever asks at the same time', async () => {
    const id = await bed.project();
    const { token } = await invite(id, { ip: '192.0.2.3' });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => withToken(ada, 'accept', token)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(400)]);
    expect(await members(id)).toEqual({ [ada]: 'editor' });
  });

  it('that is taken back while it is accepted was either', async () => {
    bed.pass(dayMs);
    const outcomes = new Set<string>();
    for (let round = 0; round < 5; round++) {
      const id = await bed.project();
      const { answer, token } = await invite(id);
      const [accepted, revoked] = await Promise.all([
        withToken(ada, 'accept', token),
        call(ownerA, id, 'DELETE', `/invitations/${answer.body.id}`),
      ]);
      const isIn = (await members(id)) !== undefined;
      expect([accepted.status === 200, revoked.status === 200]).toEqual([isIn, !isIn]);
      outcomes.add(String(isIn));
    }
    expect(outcomes.size).toBeGreaterThan(0);
  });

  it('ends after a week, when it is taken back, and with its project', async () => {
    const id = await bed.project();
    bed.pass(dayMs);
    const { token: late } = await invite(id);
    bed.pass(7 * dayMs);
    expect(await withToken(ada, 'accept', late)).toMatchObject({ body: { code: 'invalid_link' } });
    expect((await call(ownerA, id, 'GET', '/invitations')).body).toMatchObject({ items: [] });
    const { token } = await invite(id);
    await call(ownerA, id, 'DELETE', '');
    expect(await withToken(ada, 'accept', token)).toMatchObject({ body: { code: 'invalid_link' } });
  });

  it('is sent again with a new link; the former one ends', async () => {
    const id = await bed.project();
    bed.pass(dayMs);
    const { answer, token: former } = await invite(id);
    await bed.takeEvents();
    const again = await call(ownerA, id, 'POST', `/invitations/${answer.body.id}/resend`);
    expect(again).toMatchObject({ status: 200, body: { id: answer.body.id, role: 'editor' } });
    const [event] = (await bed.takeEvents()).filter(({ topic }) => topic === 'member.invited');
    const { token = '' } = (event?.payload ?? {}) as Partial<Payload<'member.invited'>>;
    expect(await withToken(ada, 'accept', former)).toMatchObject({
      body: { code: 'invalid_link' },
    });
    expect((await withToken(ada, 'accept', token)).status).toBe(200);
  });

  it('mails one address five times a day, whatever the projects and accounts', async () => {
    bed.pass(dayMs);
    const email = 'victim@example.org';
    for (let round = 0; round < 5; round++) {
      const by = round % 2 ? ownerA : ownerB;
      const made = await invite(await bed.project(by), { email, by, ip: `198.51.100.${round}` });
      expect(made.answer.status).toBe(201);
    }
    const refused = await invite(await bed.project(), { email, ip: '198.51.100.99' });
    expect(refused.answer).toMatchObject({ status: 429, body: { code: 'too_many_attempts' } });
    expect(refused.mails).toEqual([]);
  });

  it('is for no owner and no member again', async () => {
    const id = await bed.project();
    await join(id, ada);
    for (const email of ['olga@example.org', 'ADA@example.org']) {
      expect((await invite(id, { email })).answer).toMatchObject({
        status: 409,
        body: { code: 'conflict' },
      });
    }
  });

  it('keeps its one use with an Idempotency-Key', async () => {
    const id = await bed.project();
    bed.pass(dayMs);
    const { token } = await invite(id);
    const headers = { 'idempotency-key': 'once' };
    const first = await withToken(ada, 'accept', token, headers);
    expect(first.status).toBe(200);
    expect(await withToken(ada, 'accept', token, headers)).toMatchObject({
      status: 200,
      body: first.body,
    });
    expect(await members(id)).toEqual({ [ada]: 'editor' });
  });
});

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

describe('bounds', () => {
  it('of open invitations and members hold, also among parallel calls', async () => {
    const id = await bed.project(ownerB);
    const { number } = (await bed.service.directories.projects.findProject(id)) ?? { number: 0 };
    await bed.database.acrossProjects(() =>
      bed.database.query(
        `INSERT INTO project_members SELECT $1, gen_random_uuid(), 'viewer', 'm' || n || '@example.org', now()
           FROM generate_series(1, $2) n`,
        [number, projectRoutes.maxMembers - 1],
      ),
    );
    bed.pass(dayMs);
    const tokens = [
      (await invite(id, { email: 'ada@example.org', by: ownerB })).token,
      (await invite(id, { email: 'bob@example.org', by: ownerB })).token,
    ];
    const answers = await Promise.all([
      withToken(ada, 'accept', tokens[0] ?? ''),
      withToken(bob, 'accept', tokens[1] ?? ''),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
    await bed.database.acrossProjects(() =>
      bed.database.query(
        `INSERT INTO member_invitations (id, project_number, email, token_hash, created_at, sent_at, expires_at)
         SELECT gen_random_uuid(), $1, 'i' || n || '@example.org', sha256(n::text::bytea), $3, $3, $4
           FROM generate_series(1, $2) n`,
        [
          number,
          projectRoutes.maxMemberInvitations,
          new Date(bed.now()),
          new Date(bed.now() + dayMs),
        ],
      ),
    );
    expect((await invite(id, { email: 'zoe@example.org', by: ownerB })).answer).toMatchObject({
      status: 403,
      body: { code: 'member_limit' },
    });
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
