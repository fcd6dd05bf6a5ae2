import { authRoutes } from '@backlot/contract';
import { refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../test-bed.ts';

describe('signOut', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.signOut,
    () => bed.http,
    () => ({ path: '/auth/signout', body: {} }),
  );

  const isLive = (id: string | null) => bed.service.sessions.isLive(testProject.number, String(id));
  const twoSessions = async () => {
    const person = await bed.signUp();
    const second = bed.identityOf((await bed.signIn(person)).body.token);
    await bed.takeEvents();
    return { person, second };
  };

  it.each([[undefined], [{}], [{ all: false }]])(
    'ends this session alone with the body %j',
    async (body) => {
      const { person, second } = await twoSessions();
      const answer = await bed.call('POST', '/auth/signout', { identity: person.identity, body });
      expect(answer).toMatchObject({ status: 200, body: { ok: true } });
      expect(await isLive(person.sessionId)).toBe(false);
      expect(await isLive(second.sessionId)).toBe(true);
      expect(await bed.takeEvents()).toEqual([
        {
          topic: 'session.revoked',
          payload: { projectNumber: testProject.number, sessionIds: [person.sessionId] },
        },
      ]);
    },
  );

  it('ends every session of the user with "all", and nobody else\'s', async () => {
    const { person, second } = await twoSessions();
    const other = await bed.signUp();
    await bed.takeEvents();
    await bed.call('POST', '/auth/signout', { identity: person.identity, body: { all: true } });
    expect(await isLive(person.sessionId)).toBe(false);
    expect(await isLive(second.sessionId)).toBe(false);
    expect(await isLive(other.sessionId)).toBe(true);
    expect(await bed.takeEvents()).toEqual([
      {
        topic: 'session.revoked',
        payload: {
          projectNumber: testProject.number,
          sessionIds: expect.arrayContaining([person.sessionId, second.sessionId]),
        },
      },
    ]);
  });

  it('refuses a session that has ended already, and tells of nothing', async () => {
    const { person } = await twoSessions();
    await bed.call('POST', '/auth/signout', { identity: person.identity });
    await bed.takeEvents();
    expect((await bed.call('POST', '/auth/signout', { identity: person.identity })).status).toBe(
      401,
    );
    expect(await bed.takeEvents()).toEqual([]);
  });

  it.each([
    [{ all: 'yes' }, 'all'],
    [[], ''],
  ])('refuses %j', async (body, field) => {
    const { identity } = await bed.signUp();
    const answer = await bed.call('POST', '/auth/signout', { identity, body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain(field);
  });
});
