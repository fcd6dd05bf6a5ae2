import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../../testing/test-bed.ts';

describe('indexes that are built', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it('let an owner wait for one turn of another’s, however many that one has', async () => {
    const [many, one] = ['many', 'one'];
    await bed.database.transaction(async () => {
      await bed.database.query(
        `INSERT INTO project_owners (project_id, owner_id)
         SELECT n, CASE WHEN n = 9011 THEN $1 ELSE $2 END FROM generate_series(9001, 9011) n`,
        [one, many],
      );
      await bed.database.query(
        `INSERT INTO collections (project_id, coll_id, name, access, created_at)
         SELECT n, coll, 'c' || coll, 'shared', now()
         FROM generate_series(9001, 9011) n, generate_series(1, 20) coll WHERE n < 9011 OR coll = 1`,
      );
      await bed.database.query(
        `INSERT INTO slots (project_id, coll_id, slot, field, state, is_pinned, is_known, assigned_at)
         SELECT project_id, coll_id, 1, 'n', 'building', false, true, now() FROM collections`,
      );
    });
    const before = async () => {
      const readyAt = async (condition: string) => {
        const ready = await bed.database.query<{ ready_at: Date }>(
          `SELECT ready_at FROM slots WHERE state = 'ready' AND ${condition}`,
        );
        return ready.map((slot) => slot.ready_at.getTime());
      };
      const [own] = await readyAt('project_id = 9011');
      if (own === undefined) return undefined;
      return { count: (await readyAt('project_id < 9011')).filter((at) => at < own).length };
    };
    const { count } = await until(before, { timeoutMs: 60_000, what: 'the index' });
    expect(count).toBeLessThanOrEqual(2);
  });
});
