import type { Identity } from '@backlot/identity';
import {
  anonymous,
  asOwner,
  asUser,
  countLockWaits,
  createTestClock,
  testProject,
  until,
} from '@backlot/testing';
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
      expect(await countLockWaits(bed.databaseUrl)).toBeLessThanOrEqual(6);
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
        identity: asUser(ada),
        body: { userId: bob, may: 'read' },
      }),
    );
  });
});

describe('writes of two owners that wait for locks', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it('leave connections to others’ writes, and are all done in the end', async () => {
    // Nodes of a cluster do not know how long a statement may wait.
    const owners = Array.from({ length: bed.isCluster ? 1 : 2 }, (_, n) =>
      anonymous({ project: { ...testProject, id: `p${n}`, number: 4000 + n, ownerId: null } }),
    );
    const paths = await Promise.all(
      owners.map(
        async (identity) => `/db/likes/${(await bed.create('likes', { n: 0 }, identity)).id}`,
      ),
    );
    await bed.create('notes', {}, stranger);
    const { ownerDatabase } = bed;
    const { writes } = await ownerDatabase.transaction(async () => {
      for (const { project } of owners)
        await ownerDatabase.query('SELECT FROM records WHERE project_id = $1 FOR UPDATE', [
          project.number,
        ]);
      const writes = owners.flatMap((identity, n) =>
        Array.from({ length: 40 }, () =>
          bed.call('PATCH', paths[n] ?? '', { identity, body: { inc: { n: 1 } } }),
        ),
      );
      const all = bed.isCluster ? 6 : 8;
      await until(async () => (await countLockWaits(bed.databaseUrl)) === all);
      await bed.create('notes', { n: 1 }, stranger);
      return { writes };
    });
    expect(new Set((await Promise.all(writes)).map(({ status }) => status))).toEqual(
      new Set([200]),
    );
    for (const [n, identity] of owners.entries())
      expect((await bed.call('GET', paths[n] ?? '', { identity })).body.n).toBe(40);
  });
});

describe('small reads that wait', () => {
  let bed: TestBed;
  beforeAll(async () => {
    // What the stranger's write has read before stays known.
    bed = await createTestBed({}, {}, { clock: createTestClock({ stands: true }) });
  });
  afterAll(() => bed.close());

  it('leave connections to the writes of others, whatever 20 owners ask', async () => {
    const owners = Array.from({ length: 20 }, (_, n) => {
      const userId = `018f0000-0000-7000-8000-0000000000${n + 10}`;
      const project = { ...testProject, id: `p${n}`, number: 3000 + n, ownerId: userId };
      return asOwner({ project, userId });
    });
    const collections = (identity: Identity) =>
      bed.call('GET', `/platform/projects/${identity.project.id}/collections`, { identity });
    const shares = async ({ project }: Identity) => {
      const identity = asUser(ada, { project });
      const { id } = await bed.create('notes', {}, identity);
      return () => bed.call('GET', `/db/notes/${id}/_shares`, { identity });
    };
    const reads = await Promise.all(owners.map(shares));
    await bed.create('notes', {}, stranger);
    const { ownerDatabase } = bed;
    const answers = await ownerDatabase.transaction(async () => {
      await ownerDatabase.query('LOCK TABLE project_owners, shares');
      const answers = [...owners.map(collections), ...reads.map((read) => read())];
      await until(async () => (await countLockWaits(bed.databaseUrl)) >= 2);
      await bed.create('notes', {}, stranger);
      return { all: answers };
    });
    for (const { status } of await Promise.all(answers.all)) expect(status).toBe(200);
  });
});
