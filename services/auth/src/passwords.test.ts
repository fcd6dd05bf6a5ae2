import { anonymous, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createArgon2Hasher, type PasswordHasher } from './passwords.ts';
import { createTestBed, goodPassword, otherProject, type TestBed } from './test-bed.ts';

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
      expect(headers.get('retry-after')).toBe('1');
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

    const next = await bed.restarted({ argon2: { memoryKib: 128, passes: 1, lanes: 1 } });
    expect((await next.signIn(person)).status).toBe(200);
    const fresh = await stored();
    expect(fresh).toContain('m=128');
    expect((await next.signIn(person)).status).toBe(200);
    expect(await stored()).toBe(fresh);
    expect((await bed.call('GET', '/auth/me', { identity: person.identity })).status).toBe(200);
    await next.stop();
  });
});
