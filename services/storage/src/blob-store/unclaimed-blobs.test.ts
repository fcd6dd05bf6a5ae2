import type { Database } from '@backlot/database';
import { testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';
import { createUnclaimedBlobs } from './unclaimed-blobs.ts';

const { number } = testProject;
async function* bytes() {
  yield Buffer.from('some bytes');
}

describe('a leased blob that is released', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  /** Counts its transactions. */
  const watched = () => {
    const seen = { transactions: 0 };
    const transaction: Database['transaction'] = (work, options) => {
      seen.transactions += 1;
      return bed.database.transaction(work, options);
    };
    const database: Database = { ...bed.database, transaction };
    const onError = (error: unknown) => {
      throw error;
    };
    return { seen, database, blobs: createUnclaimedBlobs(database, bed.store, Date.now, onError) };
  };
  const inProject = (work: () => Promise<void>) => bed.database.inProject(number, work);

  it('stays where a file has claimed it, and asks the database nothing', async () => {
    const { seen, database, blobs } = watched();
    await inProject(async () => {
      await blobs.lease(number, '1/claimed');
      await bed.store.put('1/claimed', bytes());
      await database.transaction(() => blobs.claim(number, ['1/claimed']));
      await blobs.release(number, '1/claimed');
    });
    expect(seen.transactions).toBe(1);
    expect(await bed.blobs()).toEqual(['claimed']);
    await bed.store.remove('1/claimed');
  });

  it('goes where no file has it, or the transaction that made the file was rolled back', async () => {
    const { database, blobs } = watched();
    await inProject(async () => {
      await blobs.lease(number, '1/left');
      await bed.store.put('1/left', bytes());
      const failing = database.transaction(async () => {
        await blobs.claim(number, ['1/left']);
        throw new Error('no file');
      });
      await expect(failing).rejects.toThrow('no file');
      await blobs.release(number, '1/left');
    });
    expect(await bed.blobs()).toEqual([]);
    expect(await bed.count('loose_blobs')).toBe(0);
  });
});
