import { authRoutes } from '@backlot/contract';
import { refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, type TestBed } from '../test-bed.ts';

describe('deleteMe', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.deleteMe,
    () => bed.http,
    () => ({ path: '/auth/me' }),
  );

  it('erases the account and its sessions, tells of both, and frees the address', async () => {
    const email = 'leaver@example.org';
    const person = await bed.signUp({ email });
    const elsewhere = await bed.signUp({ email, project: otherProject });
    const second = bed.identityOf((await bed.signIn(person)).body.token);
    await bed.takeEvents();

    const { identity } = person;
    expect(await bed.call('DELETE', '/auth/me', { identity })).toMatchObject({
      status: 200,
      body: { ok: true },
    });

    expect(await bed.takeEvents()).toEqual([
      {
        topic: 'session.revoked',
        payload: {
          projectNumber: testProject.number,
          sessionIds: expect.arrayContaining([person.sessionId, second.sessionId]),
        },
      },
      {
        topic: 'user.erased',
        payload: {
          projectId: testProject.id,
          projectNumber: testProject.number,
          userId: person.user.id,
          email: person.user.email,
        },
      },
    ]);
    for (const table of ['sessions', 'one_time_tokens', 'known_addresses']) {
      const left = await bed.database.query(`SELECT FROM ${table} WHERE user_id = $1`, [
        person.user.id,
      ]);
      expect(left).toHaveLength(0);
    }
    expect((await bed.call('GET', '/auth/me', { identity: second })).status).toBe(401);
    expect((await bed.signIn(person)).status).toBe(401);
    expect((await bed.call('GET', '/auth/me', { identity: elsewhere.identity })).status).toBe(200);
    const again = await bed.signUp({ email });
    expect(again.user.id).not.toBe(person.user.id);
  });

  it('tells of one erasure when called in parallel', async () => {
    const { identity } = await bed.signUp();
    await bed.takeEvents();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => bed.call('DELETE', '/auth/me', { identity })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.every(({ status }) => status < 500)).toBe(true);
    expect((await bed.takeEvents()).map(({ topic }) => topic)).toEqual([
      'session.revoked',
      'user.erased',
    ]);
  });
});
