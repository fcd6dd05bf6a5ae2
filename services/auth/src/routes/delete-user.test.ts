import { authRoutes } from '@backlot/contract';
import { asOwner, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, otherProject, type TestBed } from '../test-bed.ts';

describe('deleteUser', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  refusesStrangers(
    authRoutes.deleteUser,
    () => bed.http,
    () => ({
      path: '/projects/testproject/users/018f0000-0000-7000-8000-000000000001',
    }),
  );

  const remove = (id: string) =>
    bed.call('DELETE', `/platform/projects/testproject/users/${id}`, { identity: asOwner() });

  it('erases the user and tells of the ended sessions and the erasure', async () => {
    const { user, identity, sessionId } = await bed.signUp();
    await bed.takeEvents();
    expect(await remove(user.id)).toMatchObject({ status: 200, body: { ok: true } });
    const projectNumber = testProject.number;
    expect(await bed.takeEvents()).toEqual([
      { topic: 'session.revoked', payload: { projectNumber, sessionIds: [sessionId] } },
      {
        topic: 'user.erased',
        payload: {
          projectId: testProject.id,
          projectNumber,
          userId: user.id,
          email: user.email,
        },
      },
    ]);
    expect((await bed.call('GET', '/auth/me', { identity })).status).toBe(401);
    expect((await remove(user.id)).status).toBe(404);
    expect(await bed.takeEvents()).toEqual([]);
  });

  it("knows no malformed id and no other project's user", async () => {
    const { user, identity } = await bed.signUp({ project: otherProject });
    for (const id of [user.id, 'nonsense', '%00']) expect((await remove(id)).status).toBe(404);
    expect((await bed.call('GET', '/auth/me', { identity })).status).toBe(200);
  });
});
