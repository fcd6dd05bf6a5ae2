import {
  anonymous,
  countLockWaits,
  findOtherNodes,
  testProject,
  until,
  withTableAlone,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../../testing/test-bed.ts';
import { foldTotals, lockTotals, readTotals } from './totals.ts';

const gate = () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};

/** On a cluster the folded project of the second case is on another node than the one that is read. */
describe('the sum of records that is read while a fold commits', () => {
  let bed: TestBed;
  let other: number;
  const { number: own, ownerId } = testProject;
  const table = 'records.count_delta';
  beforeAll(async () => {
    bed = await createTestBed();
    other = (await findOtherNodes(bed.databaseUrl, table, own)).project;
  });
  afterAll(() => bed.close());

  const write = async (number: number) => {
    const identity = anonymous({ project: { ...testProject, number } });
    for (let i = 0; i < 3; i++) await bed.create('notes', { text: 'x'.repeat(1000) }, identity);
  };
  const read = () => readTotals(bed.database, { number: own, ownerId });
  const waits = (count: number) =>
    until(async () => (await countLockWaits(bed.databaseUrl)) >= count, {
      what: `the wait of ${count}`,
    });

  /** A fold that has changed everything, and commits when it is told to. */
  const beginFold = async (number: number) => {
    const { database } = bed;
    const [locked, written, folded, end] = [gate(), gate(), gate(), gate()];
    const committed = database.transaction(async () => {
      await lockTotals(database);
      locked.open();
      await written.opened;
      await foldTotals(database);
      folded.open();
      await end.opened;
    });
    await locked.opened;
    await write(number);
    written.open();
    await folded.opened;
    return async () => {
      end.open();
      await committed;
    };
  };

  it.each([
    ['the project', () => own],
    ['another project of its owner', () => other],
  ])('has what %s has written', async (_, project) => {
    await write(own);
    const commit = await beginFold(project());
    const expected = await read();
    const found = await withTableAlone(bed.databaseUrl, table, project(), async (isAlone) => {
      try {
        await waits(1);
        const reading = read();
        await waits(2);
        return { reading };
      } finally {
        await commit();
        await isAlone;
      }
    });
    expect(await found.reading).toEqual(expected);
    expect(await read()).toEqual(expected);
    expect(expected.owner?.bytes).toBeGreaterThan(3000);
  });
});
