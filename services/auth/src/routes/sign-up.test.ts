import { authRoutes } from '@backlot/contract';
import type { IdentityProject } from '@backlot/identity';
import { anonymous, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  goodPassword,
  hourMs,
  otherProject,
  platform,
  type TestBed,
} from '../testing/test-bed.ts';
import { told } from '../testing/told.ts';

interface PostOptions {
  ip?: string;
  project?: IdentityProject;
  headers?: Record<string, string>;
}

describe('signUp', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ limits: { signUpPerIp: { max: 8, windowMs: hourMs } } });
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.signUp,
    () => bed.http,
    () => ({
      path: '/auth/signup',
      body: { email: 'a@example.org', password: goodPassword },
    }),
  );

  let address = 0;
  const freshIp = () => `198.51.100.${++address}`;
  const post = (
    body: unknown,
    { ip = freshIp(), project = testProject, headers = {} }: PostOptions = {},
  ) => bed.call('POST', '/auth/signup', { identity: anonymous({ ip, project }), body, headers });
  const countUsers = async () => (await bed.database.query('SELECT id FROM users')).length;

  it('answers the user and a token of a live session, and mails a link', async () => {
    await bed.takeEvents();
    const { status, body } = await post({
      email: '  Ada@Example.ORG ',
      password: goodPassword,
      name: 'Ada',
    });
    expect(status).toBe(201);
    expect(body.user).toEqual({
      id: expect.any(String),
      email: 'ada@example.org',
      isGuest: false,
      name: 'Ada',
      avatar: null,
      profile: {},
      publicProfile: {},
      role: 'user',
      emailVerified: false,
      createdAt: new Date(bed.clock.now()).toISOString(),
      updatedAt: new Date(bed.clock.now()).toISOString(),
    });
    expect(JSON.stringify(body)).not.toContain('argon2');
    const { sessionId, userId } = bed.readIdentity(body.token);
    expect(userId).toBe(body.user.id);
    expect(await bed.findSession(sessionId)).not.toBeNull();
    expect(await bed.takeEvents()).toEqual([
      told('user.created', userId ?? ''),
      {
        topic: 'mail.requested',
        payload: {
          projectId: testProject.id,
          projectNumber: testProject.number,
          projectName: testProject.name,
          ipHash: expect.stringMatching(/^[0-9a-f]{64}$/),
          to: 'ada@example.org',
          name: null,
          template: 'verify-email',
          token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
          expiresAt: new Date(bed.clock.now() + 24 * hourMs).toISOString(),
        },
      },
    ]);
  });

  it('keeps neither the password nor the token of the mail', async () => {
    await post({ email: 'kept@example.org', password: goodPassword });
    const token = await bed.mailedToken();
    const [user] = await bed.database.query<{ password_hash: string }>(
      "SELECT password_hash FROM users WHERE email = 'kept@example.org'",
    );
    expect(user?.password_hash).toMatch(/^\$argon2id\$v=19\$m=64,.*t=1/);
    const stored = await bed.database.query(
      "SELECT encode(token_hash, 'escape') AS hash FROM one_time_tokens",
    );
    expect(JSON.stringify(stored)).not.toContain(token);
  });

  it('is done and counted for the operator where the account looks like junk', async () => {
    await bed.take('finding.seen');
    const ids: string[] = [];
    const newcomers = [
      { email: 'honest@example.org', name: 'Ada' },
      { email: 'x@mailinator.com' },
      { email: 'y@example.org', name: 'You won: visit prize.xyz' },
      ...[1, 2, 3, 4].map((n) => ({ email: `many+${n}@example.org` })),
    ];
    for (const one of newcomers) {
      const { status, body } = await post({ ...one, password: goodPassword });
      expect(status).toBe(201);
      ids.unshift(body.user.id);
    }
    await bed.service.reportFindings();
    const signs = ['disposableAddress', 'linkInName', 'oneMailbox'];
    const examples = [ids[0], ids[4], ids[5]];
    const seen = { kind: 'junkSignUps', subject: '', signs, calls: 3, examples };
    expect(await bed.take('finding.seen')).toEqual([
      { projectNumber: testProject.number, seen: [seen] },
    ]);
  });

  it('refuses a taken address, however it is written, and only in its own project', async () => {
    await post({ email: 'taken@example.org', password: goodPassword });
    expect(await post({ email: 'TAKEN@example.org ', password: goodPassword })).toMatchObject({
      status: 409,
      body: { code: 'email_taken' },
    });
    const elsewhere = await post(
      { email: 'taken@example.org', password: goodPassword },
      { project: otherProject },
    );
    expect(elsewhere.status).toBe(201);
    const owner = await post(
      { email: 'taken@example.org', password: goodPassword },
      { project: platform },
    );
    expect(owner.status).toBe(201);
  });

  it('bounds new owners from one IP more closely than the users of other projects', async () => {
    const bounded = await createTestBed({
      limits: { ownerSignUpPerIp: { max: 2, windowMs: hourMs } },
    });
    const statuses = async (project: IdentityProject) => {
      const answers = [];
      for (let n = 0; n < 3; n++) {
        const body = { email: `new${n}@example.org`, password: goodPassword };
        const identity = anonymous({ project, ip: '198.51.100.250' });
        answers.push((await bounded.call('POST', '/auth/signup', { identity, body })).status);
      }
      return answers;
    };
    expect(await statuses(platform)).toEqual([201, 201, 429]);
    expect(await statuses(otherProject)).toEqual([201, 201, 201]);
    await bounded.close();
  });

  it('gives one of many parallel sign-ups the address', async () => {
    await bed.takeEvents();
    const before = await countUsers();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post({ email: 'race@example.org', password: goodPassword })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === 'email_taken')).toHaveLength(19);
    expect(await countUsers()).toBe(before + 1);
    const topics = (await bed.takeEvents()).map(({ topic }) => topic);
    expect(topics).toEqual(['app.event', 'mail.requested']);
  });

  it.each([
    [{}, 'email'],
    [{ email: 'x@example.org' }, 'password'],
    [{ email: ['x@example.org'], password: goodPassword }, 'email'],
    [{ email: 'nobody', password: goodPassword }, 'email'],
    [{ email: 'x\0@example.org', password: goodPassword }, 'email'],
    [{ email: 'ünïcode@exämple.org', password: goodPassword }, 'email'],
    [{ email: `${'x'.repeat(310)}@example.org`, password: goodPassword }, 'email'],
    [{ email: 'x@example.org', password: 'short77' }, 'password'],
    [{ email: 'x@example.org', password: 'x'.repeat(129) }, 'password'],
    [{ email: 'x@example.org', password: 'e\u0301'.repeat(7) }, 'password'],
    [{ email: 'x@example.org', password: '\ufdfa'.repeat(8) }, 'password'],
    [{ email: 'x@example.org', password: 'x'.repeat(400_000) }, 'password'],
    [{ email: 'x@example.org', password: 'with a \0 inside' }, 'password'],
    [{ email: 'x@example.org', password: 'half a \ud800 pair' }, 'password'],
    [{ email: 'x@example.org', password: 12345678 }, 'password'],
    [{ email: 'x@example.org', password: goodPassword, name: '' }, 'name'],
    [{ email: 'x@example.org', password: goodPassword, name: 'x'.repeat(101) }, 'name'],
    [{ email: 'x@example.org', password: goodPassword, name: { first: 'A' } }, 'name'],
  ])('refuses malformed input, naming the field (%#)', async (body, field) => {
    const answer = await post(body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain(`"${field}"`);
  });

  it('refuses what is no object and what is too large', async () => {
    expect(await post([])).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(await post('{')).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
    expect(await post({ email: 'x@example.org', password: 'x'.repeat(1_048_576) })).toMatchObject({
      status: 413,
      body: { code: 'body_too_large' },
    });
  });

  it.each([
    'password123',
    'PassWord1',
    'qwertyuiop',
    'someone@example.org',
    'SOMEONE@example.org',
    'ｐａｓｓｗｏｒｄ１',
    'ＰａｓｓＷｏｒｄ１２３',
    'ｓｏｍｅｏｎｅ＠ｅｘａｍｐｌｅ．ｏｒｇ',
  ])('refuses the weak password %s without an account or a hash', async (password) => {
    const before = { users: await countUsers(), hashes: bed.hashed.hash };
    const answer = await post({ email: 'someone@example.org', password });
    expect(answer).toMatchObject({ status: 400, body: { code: 'password_too_weak' } });
    expect(answer.body.error).toContain('"password"');
    expect({ users: await countUsers(), hashes: bed.hashed.hash }).toEqual(before);
  });

  it("refuses the address's local part as a password", async () => {
    const answer = await post({
      email: 'zebrafish-lover@example.org',
      password: 'Zebrafish-Lover',
    });
    expect(answer.body.code).toBe('password_too_weak');
  });

  it('takes a password of any script, in whichever Unicode form it is typed', async () => {
    const password = 'пароль — Å ﬁne';
    await bed.signUp({ email: 'unicode@example.org', password });
    const typed = { email: 'unicode@example.org', password: password.normalize('NFD') };
    expect((await bed.signIn(typed)).status).toBe(200);
  });

  it('counts the length of a password in its composed form', async () => {
    const password = 'é'.repeat(128);
    const typed = { email: 'accents@example.org', password: password.normalize('NFD') };
    expect((await post(typed)).status).toBe(201);
    expect((await bed.signIn({ ...typed, password })).status).toBe(200);
  });

  it('lets an address make so many accounts an hour and no more, in parallel too', async () => {
    const ip = freshIp();
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, n) =>
        post({ email: `flood${n}@example.org`, password: goodPassword }, { ip }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(8);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body.code).toBe('too_many_attempts');
    expect(Number(refused?.headers.get('retry-after'))).toBe(3600);
    expect(
      (
        await post(
          { email: 'elsewhere@example.org', password: goodPassword },
          { ip, project: otherProject },
        )
      ).status,
    ).toBe(201);
    bed.clock.pass(hourMs);
    expect(
      (await post({ email: 'later@example.org', password: goodPassword }, { ip })).status,
    ).toBe(201);
  });

  it('makes one account for one Idempotency-Key and replays its token', async () => {
    const options = { ip: freshIp(), headers: { 'idempotency-key': 'once' } };
    const first = await post({ email: 'once@example.org', password: goodPassword }, options);
    const again = await post({ email: 'once@example.org', password: goodPassword }, options);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
  });
});
