import type { EventPayloads } from '@backlot/contract';
import { createOutbox } from '@backlot/database';
import { asUser, countLockWaits, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { foldTotals } from '../record/quota/totals.ts';
import { ada, createTestBed, type TestBed } from '../testing/test-bed.ts';
import { createSlotBuilder } from './build-slots.ts';

describe('a batch that fills a slot', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  /** Fills a slot of the only collection, for one batch of the two oldest records, and keeps it open. */
  const beginBatch = async () => {
    const { database } = bed;
    let end = () => {};
    const isOver = new Promise<void>((resolve) => {
      end = resolve;
    });
    let begun = () => {};
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const committed = database.transaction(async () => {
      // Nobody else sees it, so that no other builder takes it.
      await database.query(
        `INSERT INTO slots (project_id, coll_id, slot, field, state, is_pinned, is_known, assigned_at)
         VALUES ($1, 1, 1, 'n', 'building', true, true, $2)`,
        [testProject.number, new Date()],
      );
      const outbox = createOutbox<EventPayloads>(database, () => {});
      await createSlotBuilder({ database, outbox, workMs: 1, batchRows: 2 }).run();
      begun();
      await isOver;
    });
    await Promise.race([hasBegun, committed]);
    return () => {
      end();
      return committed;
    };
  };
  const waitForOne = () =>
    until(async () => (await countLockWaits(bed.databaseUrl)) >= 1, { what: 'a wait' });

  /** Its status: a busy server may have no connection at a first try, while a lock is in the way of each. */
  const answered = (call: () => Promise<{ status: number }>): Promise<number> =>
    until(async () => {
      const { status } = await call();
      return status !== 503 && status;
    });

  it('keeps nobody waiting but who changes its records', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 50; n++) ids.push((await bed.create('notes', { n })).id);
    const patch = (id = '') =>
      bed.call('PATCH', `/db/notes/${id}`, { body: { data: { text: 'changed' } } });
    const endBatch = await beginBatch();
    // Something to fold: what there was may be folded already.
    await bed.create('notes', { n: 50 });
    await foldTotals(bed.database);
    const changed = patch(ids[0]);
    await waitForOne();
    const others = [
      () => bed.call('POST', '/db/notes', { body: { data: { n: 50 } } }),
      () => patch(ids.at(-1)),
      () => bed.call('POST', '/db/notes/_batch', { body: { create: [{ data: {} }] } }),
      () => bed.call('GET', `/db/notes/${ids[0]}`),
    ];
    const statuses: number[] = [];
    try {
      for (const call of others) statuses.push(await answered(call));
    } finally {
      await endBatch();
    }
    expect(statuses).toEqual([201, 200, 200, 200]);
    expect((await changed).status).toBe(200);
    const filled = await bed.database.query('SELECT id FROM records WHERE k1 IS NOT NULL');
    expect(filled.length).toBeGreaterThanOrEqual(2);
  });

  it('waits a moment for who holds its records, and then others’ slots are filled', async () => {
    const { database } = bed;
    const project = { ...testProject, id: 'otherproject', number: testProject.number + 1 };
    const held = await bed.create('held', { n: 1 });
    await bed.create('free', { n: 1 }, asUser(ada, { project }));
    const states = await bed.ownerDatabase.transaction(async () => {
      await bed.ownerDatabase.query(
        'SELECT FROM records WHERE project_id = $1 AND id = $2 FOR UPDATE',
        [testProject.number, held.id],
      );
      return database.transaction(async () => {
        // Nobody else sees them, so that no other builder takes them.
        await database.query(
          `INSERT INTO slots (project_id, coll_id, slot, field, state, is_pinned, is_known, assigned_at)
           SELECT project_id, coll_id, 1, 'n', 'building', true, true, now() FROM collections
           WHERE name IN ('held', 'free')`,
        );
        const outbox = createOutbox<EventPayloads>(database, () => {});
        const builder = createSlotBuilder({ database, outbox });
        for (;;) {
          await builder.run();
          const states = await database.query<{ name: string; state: string }>(
            `SELECT name, state FROM slots JOIN collections USING (project_id, coll_id)
             WHERE name IN ('held', 'free') ORDER BY name`,
          );
          if (states.some(({ state }) => state === 'ready')) return states;
        }
      });
    });
    expect(states).toEqual([
      { name: 'free', state: 'ready' },
      { name: 'held', state: 'building' },
    ]);
  });
});
