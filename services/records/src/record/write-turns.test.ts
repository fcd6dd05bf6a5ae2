import { anonymous, asOwner, asUser, countLockWaits, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

const stranger = anonymous({
  project: {
    ...testProject,
    id: 'strangersproject',
    number: 1002,
    ownerId: '018f0000-0000-7000-8000-00000000dddd',
  },
});

describe('writes that wait for a lock', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const whileLocked = async (id: string, write: () => Promise<{ status: number }>) => {
    const { ownerDatabase } = bed;
    await bed.create('notes', {}, stranger);
    const { writes } = await ownerDatabase.transaction(async () => {
      await ownerDatabase.query(
        'SELECT FROM records WHERE project_id = $1 AND id = $2 FOR UPDATE',
        [testProject.number, id],
      );
      const writes = Array.from({ length: 40 }, write);
      await until(async () => (await countLockWaits(bed.databaseUrl)) >= 6);
      await bed.create('notes', { n: 1 }, stranger);
      return { writes };
    });
    const answers = await Promise.all(writes);
    expect(answers.map(({ status }) => status)).toEqual(writes.map(() => 200));
  };

  it('leave connections to the writes of other owners', async () => {
    const { id } = await bed.create('likes', { n: 0 });
    const path = `/db/likes/${id}`;
    await whileLocked(id, () =>
      bed.call('PATCH', path, { identity: anonymous(), body: { inc: { n: 1 } } }),
    );
    expect((await bed.call('GET', path, { identity: anonymous() })).body.n).toBe(40);
  });

  it('leave them as shares of a record too', async () => {
    const body = { access: { read: ['owner', 'shared'], create: ['users'], change: ['owner'] } };
    const path = '/platform/projects/testproject/collections/shared';
    await bed.call('PUT', path, { identity: asOwner(), body });
    const { id } = await bed.create('shared', {}, asUser(ada));
    await whileLocked(id, () =>
      bed.call('PUT', `/db/shared/${id}/_shares`, {
        ...{ identity: asUser(ada), body: { userId: bob, may: 'read' } },
      }),
    );
  });
});
