import { anonymous, countLockWaits, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

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

  it('leave connections to the writes of other owners', async () => {
    const { ownerDatabase } = bed;
    const { id } = await bed.create('likes', { n: 0 });
    await bed.create('notes', {}, stranger);
    const { changes } = await ownerDatabase.transaction(async () => {
      await ownerDatabase.query(
        'SELECT FROM records WHERE project_id = $1 AND id = $2 FOR UPDATE',
        [testProject.number, id],
      );
      const changes = Array.from({ length: 40 }, () =>
        bed.call('PATCH', `/db/likes/${id}`, { identity: anonymous(), body: { inc: { n: 1 } } }),
      );
      await until(async () => (await countLockWaits(bed.databaseUrl)) >= 6);
      await bed.create('notes', { n: 1 }, stranger);
      return { changes };
    });
    const answers = await Promise.all(changes);
    expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200));
    expect((await bed.call('GET', `/db/likes/${id}`, { identity: anonymous() })).body.n).toBe(40);
  });
});
