import { createHash } from 'node:crypto';
import { groupRoutes } from '@backlot/contract';
import type { IdentityProject } from '@backlot/identity';
import { anonymous, asKey, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestGroup, invite } from '../testing/groups.ts';
import {
  createTestBed,
  dayMs,
  otherProject,
  type Person,
  type TestBed,
} from '../testing/test-bed.ts';

const unknownId = '018f0000-0000-7000-8000-000000000001';
const projectNumber = testProject.number;

describe('invitations to a group', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    groupRoutes.inviteToGroup,
    () => bed.http,
    () => ({ path: `/groups/${unknownId}/invites`, body: { email: 'a@example.org' } }),
  );
  refusesStrangers(
    groupRoutes.listGroupInvites,
    () => bed.http,
    () => ({ path: `/groups/${unknownId}/invites` }),
  );
  refusesStrangers(
    groupRoutes.revokeGroupInvite,
    () => bed.http,
    () => ({ path: `/groups/${unknownId}/invites/${unknownId}` }),
  );
  refusesStrangers(
    groupRoutes.joinGroup,
    () => bed.http,
    () => ({ path: '/groups/join', body: { token: 'x' } }),
  );

  const join = (token: string, { identity }: Pick<Person, 'identity'>) =>
    bed.call('POST', '/groups/join', { identity, body: { token } });
  const isRefused = (answer: unknown) =>
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_link' } });

  it('mail a link that works once, whose token is kept as a hash', async () => {
    const { group, owner } = await createTestGroup(bed);
    const path = `/groups/${group.id}/invites`;
    const { status, body } = await bed.call('POST', path, {
      identity: owner.identity,
      body: { email: ' Bob@Example.org ', role: 'editor' },
    });
    const expiresAt = new Date(bed.clock.now() + 7 * dayMs).toISOString();
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(String),
        email: 'bob@example.org',
        role: 'editor',
        createdAt: new Date(bed.clock.now()).toISOString(),
        expiresAt,
      },
    ]);
    const [mail] = await bed.take('mail.requested');
    expect(mail).toMatchObject({
      projectId: testProject.id,
      projectNumber,
      to: 'bob@example.org',
      name: null,
      template: 'group-invite',
      group: { name: 'Red team', invitedBy: 'Olga' },
      expiresAt,
    });
    const token = mail?.token ?? '';
    const [row] = await bed.database.query<{ token_hash: Buffer }>(
      'SELECT token_hash FROM group_invites WHERE project_number = $1 AND id = $2',
      [projectNumber, body.id],
    );
    expect(row?.token_hash).toEqual(createHash('sha256').update(token).digest());

    const bob = await bed.signUp();
    await bed.takeEvents();
    expect(await join(token, bob)).toMatchObject({
      status: 200,
      body: { id: group.id, name: 'Red team', role: 'editor' },
    });
    expect(await bed.takeEvents()).toEqual([
      { topic: 'user.changed', payload: { projectNumber, userIds: [bob.user.id] } },
    ]);
    const groups = [{ id: group.id, role: 'editor' }];
    expect((await bed.findSession(bob.sessionId))?.groups).toEqual(groups);
    isRefused(await join(token, bob));
    isRefused(await join(token, await bed.signUp()));
  });

  it('say to whom, by whom and as what, to whoever has the link, and use nothing up', async () => {
    const { group, owner } = await createTestGroup(bed);
    const path = '/groups/invitation';
    const show = (token: string, project: IdentityProject = testProject) =>
      bed.call('POST', path, { identity: anonymous({ project }), body: { token } });
    const token = await invite(bed, { group, owner, email: 'may@example.org', role: 'editor' });
    for (const _ of [1, 2])
      expect(await show(token)).toMatchObject({
        status: 200,
        body: {
          group: { name: 'Red team' },
          role: 'editor',
          invitedBy: 'Olga',
          expiresAt: new Date(bed.clock.now() + 7 * dayMs).toISOString(),
        },
      });
    isRefused(await show('made-up'));
    isRefused(await show(token, otherProject));
    expect((await join(token, await bed.signUp())).status).toBe(200);
    isRefused(await show(token));
    // Whoever invites chooses the names: none of them passes for an address, as in the mail.
    const name = 'PayPal: sign in at evil.example';
    const { identity } = owner;
    await bed.call('PATCH', `/groups/${group.id}`, { identity, body: { name } });
    await bed.call('PATCH', '/auth/me', { identity, body: { name } });
    const hostile = await invite(bed, { group, owner, email: 'x@example.org', role: 'member' });
    expect((await show(hostile)).body).toMatchObject({
      group: { name: 'a team' },
      invitedBy: 'somebody',
    });
    const late = await invite(bed, { group, owner, email: 'late@example.org', role: 'member' });
    bed.clock.pass(7 * dayMs);
    isRefused(await show(late));
  });

  it('let in one of many who follow one link at once, and once', async () => {
    const { group, owner } = await createTestGroup(bed);
    const token = await invite(bed, { group, owner, email: 'one@example.org', role: 'member' });
    const [first, second] = await Promise.all([bed.signUp(), bed.signUp()]);
    const answers = await Promise.all(
      [first, second, first, second, first].map((person) => join(token, person)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) isRefused(answer);
    const { body } = await bed.call('GET', `/groups/${group.id}/members`, { identity: asKey() });
    expect(body.items).toHaveLength(2);
  });

  it('end after a week, when they are replaced or taken back, and with the group', async () => {
    const { group, owner } = await createTestGroup(bed);
    const person = await bed.signUp();
    const again = (email = 'bob@example.org') =>
      invite(bed, { group, owner, email, role: 'member' });
    const path = `/groups/${group.id}/invites`;
    const list = async () => (await bed.call('GET', path, { identity: owner.identity })).body.items;
    const replaced = await again();
    const old = await again();
    expect(await list()).toHaveLength(1);
    isRefused(await join(replaced, person));
    bed.clock.pass(7 * dayMs);
    isRefused(await join(old, person));
    expect(await list()).toEqual([]);

    const revoked = await again();
    const [{ id }] = await list();
    const revoke = () => bed.call('DELETE', `${path}/${id}`, { identity: owner.identity });
    expect((await revoke()).status).toBe(200);
    expect((await revoke()).status).toBe(404);
    isRefused(await join(revoked, person));

    const last = await again();
    const elsewhere = await bed.signUp({ project: otherProject });
    isRefused(await join(last, elsewhere));
    isRefused(await join('made-up', person));
    await bed.call('DELETE', `/groups/${group.id}`, { identity: owner.identity });
    isRefused(await join(last, person));
  });

  it('are the business of owners and admins alone; those who would own, of owners', async () => {
    const { group, owner, others } = await createTestGroup(bed, ['admin', 'member']);
    const path = `/groups/${group.id}/invites`;
    const stranger = await bed.signUp();
    await bed.takeEvents();
    const elsewhere = { identity: { ...owner.identity, project: otherProject } };
    const ask = async (
      method: string,
      at: string,
      { identity }: Pick<Person, 'identity'>,
      role = 'member',
    ) =>
      (
        await bed.call(method, at, {
          identity,
          ...(method === 'POST' && { body: { email: 'x@example.org', role } }),
        })
      ).status;
    for (const [who, status] of [
      [stranger, 404],
      [elsewhere, 404],
      [others.member, 403],
    ] as const) {
      expect(await ask('POST', path, who)).toBe(status);
      expect(await ask('GET', path, who)).toBe(status);
      expect(await ask('DELETE', `${path}/${unknownId}`, who)).toBe(status);
    }
    expect(await bed.take('mail.requested')).toEqual([]);
    expect(await ask('POST', path, others.admin, 'owner')).toBe(403);
    expect(await ask('POST', path, others.admin, 'admin')).toBe(201);
    expect(await ask('POST', path, owner, 'owner')).toBe(201);
    expect(await ask('GET', path, { identity: asKey() })).toBe(200);
    expect(await ask('DELETE', `${path}/nonsense`, owner)).toBe(404);
  });

  it('leave what a member is already as it is, and the link for somebody else', async () => {
    const { group, owner } = await createTestGroup(bed);
    const token = await invite(bed, { group, owner, email: 'bob@example.org', role: 'member' });
    expect(await join(token, owner)).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect((await bed.findSession(owner.sessionId))?.groups).toEqual([
      { id: group.id, role: 'owner' },
    ]);
    expect((await join(token, await bed.signUp())).status).toBe(200);
  });

  it('tell nobody whether an address has an account', async () => {
    const { group, owner, others } = await createTestGroup(bed, ['member']);
    const answers = await Promise.all(
      [others.member.email, 'nobody-has@example.org'].map((email) =>
        bed.call('POST', `/groups/${group.id}/invites`, {
          identity: owner.identity,
          body: { email },
        }),
      ),
    );
    const shapes = answers.map(({ status, body }) => [status, Object.keys(body), body.role]);
    expect(shapes[0]).toEqual(shapes[1]);
  });

  it.each([
    {},
    { email: 'x' },
    { email: 'a@example.org', role: 'A' },
    { email: 'a@example.org', x: 1 },
  ])('are not made of %j', async (body) => {
    const { group, owner } = await createTestGroup(bed);
    expect(
      await bed.call('POST', `/groups/${group.id}/invites`, { identity: owner.identity, body }),
    ).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
  });

  it('are refused to a full group, and a full user, and stay good', async () => {
    const { group, owner } = await createTestGroup(bed);
    const token = await invite(bed, { group, owner, email: 'full@example.org', role: 'member' });
    await bed.database.query(
      `WITH made AS (
         INSERT INTO users (project_number, id, email, password_hash, created_at, updated_at)
         SELECT $1, gen_random_uuid(), 'many' || n || '@example.org', '', now(), now()
           FROM generate_series(1, 999) n RETURNING id)
       INSERT INTO group_members (project_number, group_id, user_id, role, joined_at)
       SELECT $1, $2, id, 'many', now() FROM made`,
      [projectNumber, group.id],
    );
    const person = await bed.signUp();
    const refused = { status: 403, body: { code: 'group_limit' } };
    expect(await join(token, person)).toMatchObject(refused);
    await bed.database.query(
      `DELETE FROM users WHERE project_number = $1 AND id = (
         SELECT user_id FROM group_members WHERE project_number = $1 AND role = 'many' LIMIT 1)`,
      [projectNumber],
    );
    expect((await join(token, person)).status).toBe(200);
  });

  it('of one group are at most 100 at a time', async () => {
    const { group, owner } = await createTestGroup(bed);
    await bed.database.query(
      `INSERT INTO group_invites (project_number, id, group_id, email, role, token_hash, created_at, expires_at)
       SELECT $1, gen_random_uuid(), $2, n || '@example.org', 'member', sha256((n || 'x')::bytea), $3, $4
         FROM generate_series(1, 100) n`,
      [projectNumber, group.id, new Date(bed.clock.now()), new Date(bed.clock.now() + dayMs)],
    );
    const create = (email: string) =>
      bed.call('POST', `/groups/${group.id}/invites`, {
        identity: owner.identity,
        body: { email },
      });
    expect(await create('101@example.org')).toMatchObject({
      status: 403,
      body: { code: 'group_limit' },
    });
    expect((await create('100@example.org')).status).toBe(201);
    bed.clock.pass(dayMs);
    expect((await create('101@example.org')).status).toBe(201);
  });
});

describe('a user', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ limits: { invitesPerUser: { max: 3, windowMs: dayMs } } });
  });
  afterAll(() => bed.close());

  it('invites so often a day and no more, in parallel too', async () => {
    const { group, owner } = await createTestGroup(bed);
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        bed.call('POST', `/groups/${group.id}/invites`, {
          identity: owner.identity,
          body: { email: `${n}@example.org` },
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(await bed.take('mail.requested')).toHaveLength(3);
    bed.clock.pass(dayMs);
    await invite(bed, { group, owner, email: 'later@example.org', role: 'member' });
  });
});
