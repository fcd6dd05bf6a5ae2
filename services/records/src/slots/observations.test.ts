import { asKey, asOwner, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';
import { createSlotAssignment } from './assign.ts';

interface Index {
  field: string;
  state: string;
  isPinned: boolean;
  uses: number;
  lastUsedAt: string | null;
}

describe('indexes that make themselves', () => {
  let bed: TestBed;
  const identity = asKey();
  beforeAll(async () => {
    bed = await createTestBed();
    await load('parts', 3000);
    await load('few', 1500);
  });
  afterAll(() => bed.close());

  const load = async (collection: string, records: number) => {
    for (let n = 0; n < records; n += 500) {
      const create = Array.from({ length: 500 }, (_, i) => ({
        data: { n: n + i, kind: `k${i % 100}`, tags: [n, i], at: { n: i } },
      }));
      const sent = { identity, body: { create } };
      const { status } = await bed.call('POST', `/db/${collection}/_batch`, sent);
      expect(status).toBe(200);
    }
  };
  const indexes = async (collection: string): Promise<Index[]> => {
    const path = `/platform/projects/${testProject.id}/collections`;
    const { body } = await bed.call('GET', path, { identity: asOwner() });
    return body.items.find(({ name }: { name: string }) => name === collection).indexes;
  };
  const get = async (path: string, query: Record<string, string>) => {
    const { status, body } = await bed.call('GET', `${path}?${new URLSearchParams(query)}`, {
      identity,
    });
    expect(status).toBe(200);
    return body;
  };

  it('follow from what is asked often, and are used', async () => {
    const where = JSON.stringify({ kind: 'k7', tags: 7, none: { $gt: 1 } });
    const scanMany = async () => {
      for (let i = 0; i < 20; i++) {
        await get('/db/parts', { where, limit: '5' });
        await get('/db/few', { where, limit: '5' });
        await get('/db/parts', { sort: 'n', limit: '5' });
      }
      const made = await indexes('parts');
      return made.length === 2 && made.every(({ state }) => state === 'ready');
    };
    await until(scanMany, { timeoutMs: 60_000, what: 'the index' });
    const made = await indexes('parts');
    expect(made.map(({ field, isPinned }) => [field, isPinned])).toEqual([
      ['kind', false],
      ['n', false],
    ]);
    expect(await indexes('few')).toEqual([]);
    const used = await until(
      async () => {
        const items = (await get('/db/parts', { sort: 'n', limit: '3' })).items;
        expect(items.map(({ n }: { n: number }) => n)).toEqual([0, 1, 2]);
        const count = await get('/db/parts/_count', { where: '{"kind":"k3"}' });
        expect(count).toEqual({ count: 30 });
        const now = await indexes('parts');
        return now.every(({ uses, lastUsedAt }) => uses > 0 && lastUsedAt) && now;
      },
      { timeoutMs: 20_000 },
    );
    expect(used).toHaveLength(2);
  }, 120_000);

  it('make room for others once nobody uses them, and go in the end', async () => {
    const slots = createSlotAssignment(bed.database, {
      append: async () => {},
    } as unknown as Parameters<typeof createSlotAssignment>[1]);
    const parts = { projectNumber: testProject.number, id: 1, name: 'parts' };
    const age = (days: number) =>
      bed.database.query(
        `UPDATE slots SET assigned_at = now() - $1 * interval '1 day', ready_at = now() - $1 * interval '1 day',
           used_at = NULL WHERE NOT is_pinned`,
        [days],
      );
    await bed.database.query(
      `INSERT INTO slots (project_id, coll_id, slot, field, state, is_pinned, assigned_at)
       SELECT $1, 1, n, 'pinned' || n, 'ready', true, now() FROM generate_series(3, 6) n`,
      [testProject.number],
    );
    const fields = async () => (await indexes('parts')).map(({ field }) => field);
    const before = await fields();
    await slots.observe(parts, 'at.n');
    await slots.observe(parts, 'none');
    expect(await fields()).toEqual(before);
    await age(2);
    await slots.observe(parts, 'tags');
    await slots.observe(parts, 'none');
    expect(await fields()).toEqual(before);
    await slots.observe(parts, 'at.n');
    const after = await fields();
    expect(after).toContain('at.n');
    expect(after).toHaveLength(6);
    await until(async () => (await indexes('parts')).every(({ state }) => state === 'ready'));
    await age(15);
    await slots.dropUnused();
    await until(async () => (await fields()).length === 4);
    const [left] = await bed.database.query<{ count: number }>(
      'SELECT count(*) FROM records WHERE project_id = $1 AND coll_id = 1 AND (k1 IS NOT NULL OR k2 IS NOT NULL)',
      [testProject.number],
    );
    expect(left?.count).toBe(0);
  }, 60_000);
});
