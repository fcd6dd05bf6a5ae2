import { asOwner, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type ChangingRecords,
  createChangingRecords,
  expectedIds,
  toIds,
} from '../testing/changing-records.ts';
import { createMoves, type Moves } from '../testing/moves.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

/** One that each run chooses anew, and that a failure shows. */
const seed = Date.now() % 1_000_000;
const stillRecords = 2000;
const name = 'mixed';

describe(`answers while a collection moves to a table of its own (seed ${seed})`, () => {
  let bed: TestBed;
  /** A process that hears of nothing: it knows what it has read itself. */
  let other: TestBed;
  let records: ChangingRecords;
  let processes: ChangingRecords[];
  let moves: Moves;
  beforeAll(async () => {
    bed = await createTestBed();
    other = await createTestBed({}, {}, { databaseUrl: bed.databaseUrl, clock: bed.clock });
    moves = await createMoves(bed, [other]);
    records = createChangingRecords(bed, name, seed, 1);
    processes = [records, createChangingRecords(other, name, seed + 1, 1)];
  });
  afterAll(async () => {
    await other.close();
    await bed.close();
  });

  const collections = `/platform/projects/${testProject.id}/collections`;
  const untilIndexed = async () => {
    const isReady = async () => {
      const { items } = await records.ok('GET', collections, { identity: asOwner() });
      return items[0].indexes.every(({ state }: { state: string }) => state === 'ready');
    };
    await until(isReady, { timeoutMs: 180_000, what: 'the indexes' });
  };

  it('are those of the model, in its order, page by page, and so are those of all records afterwards', async () => {
    await records.ok('PUT', `${collections}/${name}`, {
      ...{ identity: asOwner(), body: { access: 'shared', indexes: ['a', 'd', 'a.b', 'ownerId'] } },
    });
    const still = await records.fill(stillRecords);
    await untilIndexed();
    const asked = records.queries(40);
    let isOver = false;
    let answered = 0;
    const ask = async () => {
      for (; !isOver; answered++) {
        const query = asked[answered % asked.length];
        const process = processes[answered % 3 === 0 ? 1 : 0];
        if (!query || !process) return;
        const where = { $and: [{ part: 'still' }, query.where] };
        const expected = expectedIds(still, query);
        const found = await process.list(where, query.sort, 300);
        expect([query, toIds(found)]).toEqual([query, expected]);
        expect([query, await process.count(where)]).toEqual([query, expected.length]);
      }
    };
    const answersToCome = (count: number) => {
      const before = answered;
      return until(() => isOver || answered >= before + count, {
        timeoutMs: 120_000,
        what: 'answers',
      });
    };
    const move = async () => {
      await moves.begin();
      await answersToCome(8);
      await moves.untilMoved(name);
      await answersToCome(8);
      await moves.untilEmptied(name);
      await answersToCome(4);
    };
    const end = () => {
      isOver = true;
    };
    const changes = processes.map((process) => process.change(0, () => isOver));
    await Promise.all([ask().finally(end), move().finally(end), ...changes]);
    for (const { changed } of processes) expect(changed[0]).toBeGreaterThan(5);
    expect(await moves.tableOf(name)).toMatch(moves.isCluster ? 'records' : /^records_large/);

    const all = await records.list({}, 'id');
    for (const query of asked)
      expect([query, toIds(await records.list(query.where, query.sort, 700))]).toEqual([
        query,
        expectedIds(all, query),
      ]);
  }, 600_000);
});
