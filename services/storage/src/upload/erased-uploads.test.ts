import { randomUUID } from 'node:crypto';
import { anonymous, asUser, testProject, until } from '@backlot/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { beginForm, end, readAnswer } from '../testing/slow-form.ts';
import { createTestBed, otherProject, type TestBed, userA, userB } from '../testing/test-bed.ts';

const MIB = 1024 * 1024;

describe('uploads', () => {
  let bed: TestBed;
  afterEach(() => bed.close());

  const unclaimed = () => bed.count('loose_blobs');
  const files = () => bed.count('files');

  it('of an account that is erased go away, those under way too', async () => {
    bed = await createTestBed();
    await bed.service.start();
    for (const user of [userA, userA, userB]) await bed.upload('text', { identity: asUser(user) });
    await bed.upload('text', { identity: asUser(userA, { project: otherProject }) });
    const late = beginForm(bed, {}, asUser(userA));
    late.write('x'.repeat(MIB));
    await until(async () => (await unclaimed()) === 1);
    await bed.bus.publish({
      id: '018f0000-0000-7000-8000-0000000000e1',
      topic: 'user.erased',
      payload: {
        projectId: testProject.id,
        projectNumber: testProject.number,
        userId: userA,
        email: 'a@example.org',
      },
    });
    await until(async () => (await files()) === 2);
    late.end(end);
    expect((await readAnswer(late)).status).toBe(401);
    await until(async () => (await bed.blobs()).length === 2);
  });

  const merge = (guestId: string, userId: string) => {
    const { id: projectId, number: projectNumber } = testProject;
    const payload = { projectId, projectNumber, guestId, userId };
    return bed.bus.publish({ id: randomUUID(), topic: 'user.merged', payload });
  };
  const owners = async () => {
    const rows = await bed.database.query<{ owner_id: string }>(
      'SELECT owner_id FROM files ORDER BY project_number, owner_id',
    );
    return rows.map(({ owner_id }) => owner_id);
  };

  it('of a guest who is merged are the user’s, those under way and those of later repetitions too', async () => {
    bed = await createTestBed();
    await bed.service.start();
    for (const user of [userA, userB]) await bed.upload('text', { identity: asUser(user) });
    await bed.upload('text', { identity: asUser(userA, { project: otherProject }) });
    const late = beginForm(bed, {}, asUser(userA));
    late.write('x'.repeat(MIB));
    await until(async () => (await unclaimed()) === 1);
    await Promise.all([merge(userA, userB), merge(userA, userB)]);
    expect(await owners()).toEqual([userB, userB, userA]);
    late.end(end);
    expect((await readAnswer(late)).status).toBe(201);
    expect(await owners()).toEqual([userB, userB, userB, userA]);
    await merge(userA, userB);
    const { body } = await bed.call('GET', '/storage/files', { identity: asUser(userB) });
    expect(body.items).toHaveLength(3);
    const [{ id }] = body.items;
    const of = { identity: asUser(userB) };
    expect((await bed.call('DELETE', `/storage/files/${id}`, of)).status).toBe(200);
  });

  it('of a guest go with the user’s account, where that was erased before it was told', async () => {
    bed = await createTestBed();
    await bed.service.start();
    await bed.upload('text', { identity: asUser(userA) });
    const { id: projectId, number: projectNumber } = testProject;
    const payload = { projectId, projectNumber, userId: userB, email: null };
    await bed.bus.publish({ id: randomUUID(), topic: 'user.erased', payload });
    await merge(userA, userB);
    await until(async () => (await files()) === 0);
    expect((await bed.upload('text', { identity: asUser(userA) })).status).toBe(401);
  });

  it('of a project that is erased go away', async () => {
    bed = await createTestBed();
    await bed.service.start();
    for (let n = 0; n < 3; n++) await bed.upload('text');
    await bed.upload('text', { identity: anonymous({ project: otherProject }) });
    await bed.bus.publish({
      id: '018f0000-0000-7000-8000-0000000000e2',
      topic: 'project.erased',
      payload: { projectId: testProject.id, projectNumber: testProject.number },
    });
    await until(async () => (await files()) === 1 && (await bed.blobs()).length === 1);
  });
});
