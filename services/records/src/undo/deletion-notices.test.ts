import { asKey, asOwner, asUser, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, createTestBed, type TestBed } from '../testing/test-bed.ts';

describe('the notice of many deletions', () => {
  let bed: TestBed;
  const told: unknown[] = [];
  beforeAll(async () => {
    bed = await createTestBed();
    await bed.bus.listen(['records.deleted'], ({ payload }) => {
      told.push(payload);
    });
  });
  afterAll(() => bed.close());

  const remove = async (count: number, identity = asKey()) => {
    const create = Array.from({ length: count }, (_, n) => ({ data: { n } }));
    // A call that a busy machine refuses is sent again; what it has deleted all the same is not found then.
    const send = (body: object) =>
      until(async () => {
        const answer = await bed.call('POST', '/db/many/_batch', { identity, body });
        return [200, 404].includes(answer.status) && answer.body;
      });
    const created = await send({ create });
    const ids = (created.create as { id: string }[]).map(({ id }) => id);
    for (let at = 0; at < count; at += 50) await send({ delete: ids.slice(at, at + 50) });
  };

  it('is sent once a day, with who has deleted how many since when', async () => {
    const before = Date.now() - 1000;
    await remove(99, asUser(ada));
    await remove(150, asOwner());
    await remove(150);
    await until(() => told.length > 0);
    expect(told).toEqual([
      {
        projectId: testProject.id,
        projectNumber: testProject.number,
        projectName: testProject.name,
        ownerId: testProject.ownerId,
        actor: `key:${asKey().keyId}`,
        count: expect.any(Number),
        since: expect.any(String),
      },
    ]);
    const [{ count, since }] = told as [{ count: number; since: string }];
    expect(count).toBeGreaterThan(100);
    expect(Date.parse(since)).toBeGreaterThan(before);
    await remove(150);
    const rows = 'SELECT FROM deletion_notices WHERE project_id = $1';
    expect(await bed.database.query(rows, [testProject.number])).toHaveLength(1);
    expect(told).toHaveLength(1);
  });

  it('is sent of a collection that a key deletes with its records, which come back by no undo', async () => {
    told.length = 0;
    const create = Array.from({ length: 101 }, (_, n) => ({ data: { n } }));
    const admin = asKey();
    const end = async (name: string, identity: typeof admin) => {
      await bed.call('POST', `/db/${name}/_batch`, { identity, body: { create } });
      const path = `/platform/projects/${testProject.id}/collections/${name}`;
      expect((await bed.call('DELETE', path, { identity })).body.count).toBe(101);
    };
    await end('first', asOwner());
    for (const name of ['second', 'third']) await end(name, admin);
    await until(() => told.length > 0);
    expect(told).toEqual([
      expect.objectContaining({ collection: 'second', count: 101, actor: `key:${admin.keyId}` }),
    ]);
    const ended = 'SELECT FROM ended_collections WHERE project_id = $1';
    expect(await bed.database.query(ended, [testProject.number])).toHaveLength(3);
  });
});
