import { events } from '@backlot/contract';
import { testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

describe('sessions', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ config: { maxSessionsPerUser: 3 } });
  });
  afterAll(() => bed.close());

  const isLive = async (id: string) => (await bed.findSession(id)) !== null;

  it('of one user are bounded: the oldest ends, and that is published', async () => {
    const person = await bed.signUp();
    await bed.signIn(person);
    await bed.signIn(person);
    await bed.takeEvents();
    const newest = bed.readIdentity((await bed.signIn(person)).body.token);
    expect(await isLive(person.sessionId)).toBe(false);
    expect(await isLive(String(newest.sessionId))).toBe(true);
    expect(await bed.takeEvents()).toEqual([
      {
        topic: 'session.revoked',
        payload: { projectNumber: testProject.number, sessionIds: [person.sessionId] },
      },
    ]);
  });

  it('stay bounded when many are started in parallel, and each ended one is published exactly once', async () => {
    const person = await bed.signUp();
    await bed.takeEvents();
    const answers = await Promise.all(Array.from({ length: 9 }, () => bed.signIn(person)));
    const started = answers.map(({ body }) => String(bed.readIdentity(body.token).sessionId));
    const left = await bed.database.query<{ id: string }>(
      'SELECT id FROM sessions WHERE user_id = $1',
      [person.user.id],
    );
    expect(left).toHaveLength(3);
    const ended = (await bed.takeEvents()).flatMap(
      ({ payload }) => events['session.revoked'].parse(payload).sessionIds,
    );
    expect([...ended, ...left.map(({ id }) => id)].sort()).toEqual(
      [person.sessionId, ...started].sort(),
    );
  });

  it('remember the last 20 IP addresses of an account', async () => {
    const person = await bed.signUp({ ip: '198.51.100.1' });
    for (let n = 2; n <= 25; n++) {
      bed.clock.pass(1000);
      await bed.signIn(person, `198.51.100.${n}`);
    }
    const known = await bed.database.query('SELECT FROM known_addresses WHERE user_id = $1', [
      person.user.id,
    ]);
    expect(known).toHaveLength(20);
  });
});
