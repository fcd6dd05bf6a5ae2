import { authRoutes } from '@backlot/contract';
import { anonymous, refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, minuteMs, otherProject, type TestBed } from '../testing/test-bed.ts';

describe('signIn', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.signIn,
    () => bed.http,
    () => ({
      path: '/auth/signin',
      body: { email: 'a@example.org', password: 'whatever' },
    }),
  );

  let address = 0;
  const freshIp = () => `203.0.113.${++address}`;
  const wrong = (email: string) => ({ email, password: 'not the password' });
  const times = <T>(n: number, work: (turn: number) => Promise<T>) =>
    Promise.all(Array.from({ length: n }, (_, turn) => work(turn)));

  it('answers the user and a token of a new session', async () => {
    const person = await bed.signUp({ email: 'anna@example.org' });
    const { status, body } = await bed.signIn({ ...person, email: ' ANNA@example.org' });
    expect(status).toBe(200);
    expect(body.user).toEqual(person.user);
    expect(bed.readIdentity(body.token).sessionId).not.toBe(person.sessionId);
    expect(await bed.findSession(person.sessionId)).not.toBeNull();
  });

  it('answers alike for a wrong password, an unknown address and what is none, after one hash check each', async () => {
    const person = await bed.signUp();
    const bodies = [
      wrong(person.email),
      wrong('nobody@example.org'),
      wrong('not an address'),
      wrong('a\0b'),
      wrong(''),
    ];
    for (const body of bodies) {
      const before = bed.hashed.verify;
      const answer = await bed.signIn(body, freshIp());
      expect(answer.status).toBe(401);
      expect(answer.body).toMatchObject({
        code: 'invalid_credentials',
        error: 'E-mail or password is wrong.',
      });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect(bed.hashed.verify).toBe(before + 1);
    }
  });

  it("refuses another project's account", async () => {
    const person = await bed.signUp();
    expect((await bed.signIn(person, freshIp(), otherProject)).status).toBe(401);
  });

  it.each([
    [{}, 'email'],
    [{ email: 'x@example.org' }, 'password'],
    [{ email: 'x@example.org', password: ['x'] }, 'password'],
    [{ email: { $ne: null }, password: 'x' }, 'email'],
    [{ email: 'x@example.org', password: 'x'.repeat(1025) }, 'password'],
    [{ email: 'x'.repeat(321), password: 'x' }, 'email'],
  ])('refuses malformed input, naming the field (%#)', async (body, field) => {
    const answer = await bed.call('POST', '/auth/signin', { identity: anonymous(), body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain(`"${field}"`);
  });

  it('lets 10 of 64 parallel wrong passwords for one address reach the hash check', async () => {
    const person = await bed.signUp();
    const before = bed.hashed.verify;
    const answers = await times(64, () => bed.signIn(wrong(person.email), freshIp()));
    expect(bed.hashed.verify - before).toBe(10);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(
      answers.filter(({ status, body }) => status === 429 && body.code === 'too_many_attempts'),
    ).toHaveLength(54);
  });

  it('counts failures for addresses that nobody has in the same way', async () => {
    const answers = await times(12, () => bed.signIn(wrong('ghost@example.org'), freshIp()));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
  });

  it('counts 30 failures from one IP, whomever they were meant for', async () => {
    const ip = freshIp();
    const answers = await times(40, (turn) => bed.signIn(wrong(`somebody${turn}@example.org`), ip));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(30);
    expect((await bed.signIn(wrong('somebody0@example.org'), ip, otherProject)).status).toBe(401);
  });

  it("doesn't let what an IP is refused count against the address that was meant", async () => {
    const ip = freshIp();
    const person = await bed.signUp({ ip: freshIp() });
    await times(30, (turn) => bed.signIn(wrong(`anybody${turn}@example.org`), ip));
    const refused = await times(20, () => bed.signIn(wrong(person.email), ip));
    expect(refused.every(({ status }) => status === 429)).toBe(true);
    expect((await bed.signIn(person, freshIp())).status).toBe(200);
  });

  it('stores nothing of attempts past the bound of an IP, and says how long that lasts', async () => {
    const ip = freshIp();
    const count = () => bed.database.query('SELECT count(*) FROM attempts');
    await times(30, (turn) => bed.signIn(wrong(`first${turn}@example.org`), ip));
    bed.clock.pass(5 * minuteMs);
    const before = await count();
    const refused = await times(10, (turn) => bed.signIn(wrong(`then${turn}@example.org`), ip));
    for (const { status, headers } of refused)
      expect([status, headers.get('retry-after')]).toEqual([429, `${10 * 60}`]);
    expect(await count()).toEqual(before);
  });

  it('refuses even the right password until the window has passed, and says how long', async () => {
    const person = await bed.signUp();
    for (let n = 0; n < 10; n++) await bed.signIn(wrong(person.email), freshIp());
    bed.clock.pass(5 * minuteMs);
    const refused = await bed.signIn(person, freshIp());
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBe(10 * 60);
    bed.clock.pass(10 * minuteMs - 1);
    expect((await bed.signIn(person, freshIp())).status).toBe(429);
    bed.clock.pass(1);
    expect((await bed.signIn(person, freshIp())).status).toBe(200);
  });

  it('never counts a success as a failure', async () => {
    const person = await bed.signUp();
    const ip = freshIp();
    const answers = await times(40, () => bed.signIn(person, ip));
    expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true);
    const rows = await bed.database.query<{ used: number }>(
      'SELECT used FROM attempts WHERE window_ends_at > $1 AND used > 0 AND allowed = 30',
      [new Date(bed.clock.now() + 15 * minuteMs - 1)],
    );
    expect(rows).toEqual([]);
    expect((await bed.signIn(person, freshIp())).status).toBe(200);
  });

  it('bounds the successes of one account from one IP, and of nobody else', async () => {
    const home = freshIp();
    const [person, neighbour] = [await bed.signUp(), await bed.signUp()];
    const bounded = await bed.startProcess({
      limits: { ...bed.config.limits, signInsPerEmailAndIp: { max: 3, windowMs: 15 * minuteMs } },
    });
    const statuses = [];
    for (let n = 0; n < 5; n++) statuses.push((await bounded.signIn(person, home)).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    expect((await bounded.signIn(neighbour, home)).status).toBe(200);
    expect((await bounded.signIn(person, freshIp())).status).toBe(200);
    bed.clock.pass(15 * minuteMs);
    expect((await bounded.signIn(person, home)).status).toBe(200);
    await bounded.stop();
  });

  it("isn't locked out by others' failures at an IP address from which the account signed in before", async () => {
    const home = freshIp();
    const person = await bed.signUp({ ip: home });
    await times(20, () => bed.signIn(wrong(person.email), freshIp()));
    await times(35, (turn) => bed.signIn(wrong(`neighbour${turn}@example.org`), home));
    expect((await bed.signIn(person, freshIp())).status).toBe(429);
    expect((await bed.signIn(person, home)).status).toBe(200);
    const guesses = await times(20, () => bed.signIn(wrong(person.email), home));
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(10);
  });

  it('counts failures of idempotent calls, whose own transaction is rolled back', async () => {
    const person = await bed.signUp();
    const answers = await times(20, (turn) =>
      bed.call('POST', '/auth/signin', {
        identity: anonymous({ ip: freshIp() }),
        body: wrong(person.email),
        headers: { 'idempotency-key': `attempt-${turn}` },
      }),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
  });

  it('answers 64 parallel idempotent sign-ins without running out of connections', async () => {
    const person = await bed.signUp({ ip: freshIp() });
    const answers = await times(64, (turn) =>
      bed.call('POST', '/auth/signin', {
        identity: person.identity,
        body: { email: person.email, password: person.password },
        headers: { 'idempotency-key': `right-${turn}` },
      }),
    );
    expect(new Set(answers.map(({ status }) => status))).not.toContain(503);
  });
});
