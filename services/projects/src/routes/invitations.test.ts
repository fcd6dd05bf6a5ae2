import { type Payload, projectRoutes } from '@backlot/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createMemberCalls, setAddresses } from '../testing/member-calls.ts';
import { createTestBed, dayMs, ownerA, ownerB, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
  setAddresses(bed);
});
afterAll(() => bed.close());

const { call, invite, join, members, withToken } = createMemberCalls(() => bed);

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
