import { asOwner, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type ChangingRecords,
  createChangingRecords,
  expectedIds,
  toIds,
} from '../../testing/changing-records.ts';
import { createTestBed, type TestBed } from '../../testing/test-bed.ts';

const indexed = ['a', 'b', 'c', 'd', 'a.b', 'b.a', 'ownerId', 'part'];

/** One that each run chooses anew, and that a failure shows. */
const seed = Date.now() % 1_000_000;
const stillRecords = 2000;

describe(`answers while slots are built and replaced (seed ${seed})`, () => {
  let bed: TestBed;
  let records: ChangingRecords;
  let bySlots = 0;
  beforeAll(async () => {
    bed = await createTestBed(
      {},
      {},
      {
        onStatement: (text) => {
          if (/AS epoch FROM/.test(text)) bySlots += 1;
        },
      },
    );
    records = createChangingRecords(bed, 'mixed', seed, 2);
  });
  afterAll(() => bed.close());

  const pin = (indexes: readonly string[]) =>
    records.ok('PUT', `/platform/projects/${testProject.id}/collections/mixed`, {
      identity: asOwner(),
      body: { access: 'shared', indexes },
    });
  const listIndexes = async (): Promise<{ field: string; state: string }[]> => {
    const { items } = await records.ok('GET', `/platform/projects/${testProject.id}/collections`, {
      identity: asOwner(),
    });
    return items[0].indexes;
  };
  const untilReady = () =>
    until(async () => (await listIndexes()).every(({ state }) => state === 'ready'), {
      timeoutMs: 180_000,
    });

  it('are those of the model, in its order, and so are those of all records afterwards', async () => {
    const still = await records.fill(stillRecords);
    expect(still).toHaveLength(stillRecords);
    const asked = records.queries(90);
    let isOver = false;
    const { changed } = records;
    const changes = changed.map((_, writer) => records.change(writer, () => isOver));
    const hasSeenEnough = () => bySlots > 20 && changed.every((times) => times > 5);
    const assign = async () => {
      for (let i = 0; !isOver; i++) {
        await pin(indexed.filter((_, n) => (n + i) % 4 !== 0));
        // Every second time the slots are replaced before they are filled.
        if (i % 2 === 1) await untilReady();
      }
    };
    const ask = async () => {
      for (let i = 0; i < asked.length || !hasSeenEnough(); i++) {
        const query = asked[i % asked.length];
        if (!query) return;
        const where = { $and: [{ part: 'still' }, query.where] };
        expect([query, toIds(await records.list(where, query.sort))]).toEqual([
          query,
          expectedIds(still, query),
        ]);
      }
    };
    const assigning = assign();
    await ask().finally(() => {
      isOver = true;
    });
    await Promise.all([assigning, ...changes]);

    const all = await records.list({}, 'id');
    const check = async () => {
      for (const query of asked.slice(0, 40)) {
        expect([query, toIds(await records.list(query.where, query.sort))]).toEqual([
          query,
          expectedIds(all, query),
        ]);
      }
    };
    await pin(indexed.slice(0, 6));
    await untilReady();
    bySlots = 0;
    await check();
    expect(bySlots).toBeGreaterThan(5);
    await pin(['z1', 'z2', 'z3', 'z4', 'z5', 'z6']);
    await untilReady();
    await records.list({}, 'd');
    bySlots = 0;
    await check();
    expect(bySlots).toBe(0);
  }, 600_000);
});
