import { anonymous, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestBed,
  goodPassword,
  otherProject,
  platform,
  type TestBed,
} from '../testing/test-bed.ts';
import { createArgon2Hasher, type PasswordHasher } from './passwords.ts';

describe('a full queue of hashes', () => {
  let bed: TestBed;
  let release = () => {};
  let closed: Promise<void> | undefined;
  let running = 0;
  let mostRunning = 0;
  const argon2 = createArgon2Hasher({ memoryKib: 64, passes: 1, lanes: 1 });
  const behindGate = async <T>(work: () => Promise<T>): Promise<T> => {
    mostRunning = Math.max(mostRunning, ++running);
    await closed;
    return work().finally(() => running--);
  };
  const gated: PasswordHasher = {
    isOutdated: argon2.isOutdated,
    hash: (password) => behindGate(() => argon2.hash(password)),
    verify: (hash, password) => behindGate(() => argon2.verify(hash, password)),
  };
  beforeAll(async () => {
    bed = await createTestBed({
      hasher: gated,
      config: { hashing: { concurrency: 2, queueLength: 6 } },
    });
  });
  afterAll(() => bed.close());

  const flood = (project = anonymous().project) => {
    const statuses: number[] = [];
    const answers = Array.from({ length: 10 }, async (_, n) => {
      const person = { email: `flood${n}@example.org`, password: goodPassword };
      const answer = await bed.signIn(person, `192.0.2.${n}`, project);
      statuses.push(answer.status);
      return answer;
    });
    return { statuses, answers };
  };

  it('refuses what one project sends past half of it, and anything past all of it, at once', async () => {
    await bed.service.start();
    closed = new Promise((resolve) => {
      release = resolve;
    });
    const first = flood();
    await until(() => first.statuses.length === 5);
    expect(first.statuses).toEqual(Array(5).fill(503));
    const second = flood(otherProject);
    await until(() => second.statuses.length === 7);
    expect(second.statuses).toEqual(Array(7).fill(503));
    release();
    closed = undefined;
    const answers = await Promise.all([...first.answers, ...second.answers]);
    expect(first.statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(second.statuses.filter((status) => status === 401)).toHaveLength(3);
    for (const { body, headers } of answers.filter(({ status }) => status === 503)) {
      expect(body.code).toBe('overloaded');
      expect(headers.get('retry-after')).toMatch(/^[1-4]$/);
    }
    expect(mostRunning).toBe(2);
    await bed.service.stop();
  });

  it('counts no attempt that was refused, and serves again', async () => {
    const used = await bed.database.query<{ used: number }>(
      'SELECT used FROM attempts WHERE used > 0 AND allowed = 30',
    );
    expect(used).toHaveLength(8);
    const answer = await bed.signIn({ email: 'later@example.org', password: goodPassword });
    expect(answer.status).toBe(401);
  });

  it('refuses a call that finds it full before any statement, and a little later than at once', async () => {
    closed = new Promise((resolve) => {
      release = resolve;
    });
    const { statuses, answers } = flood();
    await until(() => statuses.length === 5);
    await bed.database.transaction(async () => {
      await bed.database.query('LOCK TABLE users, attempts, idempotency');
      const askedAt = performance.now();
      const { body } = await bed.call('POST', '/auth/signin', {
        identity: anonymous(),
        body: { email: 'late@example.org', password: goodPassword },
        headers: { 'idempotency-key': crypto.randomUUID() },
      });
      expect(body.code).toBe('overloaded');
      expect(performance.now() - askedAt).toBeGreaterThan(200);
    });
    release();
    closed = undefined;
    await Promise.all(answers);
  });
});

describe('calls that wait for a hash', () => {
  let bed: TestBed;
  let waiting = 0;
  let gate: Promise<void> | undefined;
  const argon2 = createArgon2Hasher({ memoryKib: 64, passes: 1, lanes: 1 });
  const afterGate = async <T>(work: () => Promise<T>): Promise<T> => {
    waiting++;
    await gate;
    waiting--;
    return work();
  };
  const gated: PasswordHasher = {
    isOutdated: argon2.isOutdated,
    hash: (password) => afterGate(() => argon2.hash(password)),
    verify: (hash, password) => afterGate(() => argon2.verify(hash, password)),
  };
  beforeAll(async () => {
    const hashing = { concurrency: 64, queueLength: 64 };
    bed = await createTestBed({ hasher: gated, config: { hashing } });
  });
  afterAll(() => bed.close());

  const openTransactions = async () => {
    const rows = await bed.database.query(
      `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL`,
    );
    return rows.length;
  };
  const post = (
    path: string,
    body: object,
    identity = anonymous(),
    key: string = crypto.randomUUID(),
  ) => bed.call('POST', path, { identity, body, headers: { 'idempotency-key': key } });
  const newPassword = 'a quite different phrase';

  it('hold no transaction, with an Idempotency-Key too, and other tenants are served', async () => {
    const people = await Promise.all(Array.from({ length: 20 }, () => bed.signUp()));
    const other = await bed.signUp({ project: otherProject });
    const [changing, forgetful] = people;
    if (!changing || !forgetful) throw new Error('nobody signed up');
    await bed.call('POST', '/auth/forgot', {
      identity: anonymous(),
      body: { email: forgetful.email },
    });
    const token = await bed.mailedToken();

    let open = () => {};
    gate = new Promise((resolve) => {
      open = resolve;
    });
    const calls = [
      post('/auth/signup', { email: 'new@example.org', password: goodPassword }),
      post(
        '/auth/password',
        { currentPassword: changing.password, newPassword },
        changing.identity,
      ),
      post('/auth/reset', { token, password: newPassword }),
      ...people.slice(2).map(({ email, password }) => post('/auth/signin', { email, password })),
    ];
    await until(() => waiting === calls.length);
    expect(await openTransactions()).toBe(0);
    const me = await bed.call('GET', '/auth/me', { identity: other.identity });
    expect(me.status).toBe(200);
    open();
    gate = undefined;
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses).toEqual([201, ...Array(calls.length - 1).fill(200)]);
  });

  it('answer a repeated key with the first answer, whose session lives, and start one session', async () => {
    const { email, password } = await bed.signUp();
    const [first, second] = [
      await post('/auth/signin', { email, password }, undefined, 'same'),
      await post('/auth/signin', { email, password }, undefined, 'same'),
    ];
    expect(second.body).toEqual(first.body);
    const identity = bed.readIdentity(first.body.token);
    expect((await bed.call('GET', '/auth/me', { identity })).status).toBe(200);
    const [row] = await bed.database.query<{ count: number }>(
      'SELECT count(*) FROM sessions WHERE user_id = $1',
      [identity.userId],
    );
    expect(row?.count).toBe(2);
  });
});

describe('the order of hashes', () => {
  let bed: TestBed;
  let open = () => {};
  let gate: Promise<void> | undefined;
  const checked: string[] = [];
  const argon2 = createArgon2Hasher({ memoryKib: 64, passes: 1, lanes: 1 });
  const recording: PasswordHasher = {
    ...argon2,
    async verify(hash, password) {
      checked.push(password);
      await gate;
      return argon2.verify(hash, password);
    },
  };
  beforeAll(async () => {
    const hashing = { concurrency: 1, queueLength: 60 };
    bed = await createTestBed({ hasher: recording, config: { hashing } });
    await bed.service.start();
  });
  afterAll(() => bed.close());

  const underWay = async () => {
    const [row] = await bed.database.query<{ count: number }>(
      'SELECT sum(used) AS count FROM attempts WHERE allowed = 10',
    );
    return Number(row?.count ?? 0);
  };

  it.each([
    ['another project', otherProject, '198.51.100.1'],
    ['another address of the project', anonymous().project, '198.51.100.2'],
  ])(
    'lets %s in between 20 accounts that sign in from one address',
    async (who, project, crowded) => {
      gate = new Promise((resolve) => {
        open = resolve;
      });
      checked.length = 0;
      const before = await underWay();
      const flood = Array.from({ length: 20 }, (_, n) =>
        bed.signIn({ email: `account${n}@example.org`, password: 'flood' }, crowded),
      );
      await until(async () => (await underWay()) === before + 20);
      const person = { email: 'stranger@example.org', password: who };
      const stranger = bed.signIn(person, '203.0.113.7', project);
      await until(async () => (await underWay()) === before + 21);
      open();
      gate = undefined;
      expect((await stranger).status).toBe(401);
      await Promise.all(flood);
      expect(checked).toHaveLength(21);
      expect(checked.indexOf(who)).toBeLessThanOrEqual(3);
    },
  );

  it('leaves out who has gone, and counts no attempt of theirs', async () => {
    gate = new Promise((resolve) => {
      open = resolve;
    });
    checked.length = 0;
    const before = await underWay();
    const first = bed.signIn({ email: 'one@example.org', password: 'stays' }, '203.0.113.8');
    await until(() => checked.length === 1);
    const caller = new AbortController();
    const left = bed.call('POST', '/auth/signin', {
      identity: anonymous({ ip: '203.0.113.9' }),
      body: { email: 'two@example.org', password: 'leaves' },
      signal: caller.signal,
    });
    await until(async () => (await underWay()) === before + 2);
    caller.abort();
    await expect(left).rejects.toThrow('aborted');
    await until(async () => (await underWay()) === before + 1);
    open();
    gate = undefined;
    expect((await first).status).toBe(401);
    expect(checked).toEqual(['stays']);
  });
});

describe('new parameters', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it('reach a stored hash with the next sign-in, which leaves the sessions alone', async () => {
    const person = await bed.signUp();
    const stored = async () => {
      const [row] = await bed.database.query<{ password_hash: string }>(
        'SELECT password_hash FROM users WHERE id = $1',
        [person.user.id],
      );
      return row?.password_hash;
    };
    const old = await stored();
    await bed.signIn(person);
    expect(await stored()).toBe(old);

    const next = await bed.startProcess({ argon2: { memoryKib: 128, passes: 1, lanes: 1 } });
    expect((await next.signIn(person)).status).toBe(200);
    const fresh = await stored();
    expect(fresh).toContain('m=128');
    expect((await next.signIn(person)).status).toBe(200);
    expect(await stored()).toBe(fresh);
    expect((await bed.call('GET', '/auth/me', { identity: person.identity })).status).toBe(200);
    await next.stop();
  });
});

describe('a password that the rules would refuse today', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it('still signs its account in, in whichever form it is typed, after one hash check', async () => {
    const password = 'ｐａｓｓｗｏｒｄ１';
    await bed.service.ensureOwner({ email: 'old@example.org', password, name: null });
    for (const typed of [password, 'password1']) {
      const before = bed.hashed.verify;
      const owner = { email: 'old@example.org', password: typed };
      expect((await bed.signIn(owner, undefined, platform)).status).toBe(200);
      expect(bed.hashed.verify - before).toBe(1);
    }
  });
});
