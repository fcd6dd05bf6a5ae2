import type { Database } from '@backlot/database';
import { testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';
import type { BlobStore } from './blob-store.ts';
import { createUnclaimedBlobs } from './unclaimed-blobs.ts';

const { number } = testProject;
const going = 'SELECT FROM loose_blobs WHERE is_going';
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
  const watched = (store: BlobStore = bed.store) => {
    const seen = { transactions: 0 };
    const transaction: Database['transaction'] = (work, options) => {
      seen.transactions += 1;
      return bed.database.transaction(work, options);
    };
    const database: Database = { ...bed.database, transaction };
    const onError = (error: unknown) => {
      throw error;
    };
    return { seen, database, blobs: createUnclaimedBlobs(database, store, bed.clock.now, onError) };
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

  it('keeps no transaction open while the store removes it, and can not be claimed meanwhile', async () => {
    let go = () => {};
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    const store: BlobStore = {
      ...bed.store,
      async remove(key) {
        await held;
        await bed.store.remove(key);
      },
    };
    const { seen, blobs } = watched(store);
    await inProject(async () => {
      await blobs.lease(number, '1/going');
      await bed.store.put('1/going', bytes());
      const released = blobs.release(number, '1/going');
      await until(async () => (await bed.database.query(going)).length === 1);
      expect(seen.transactions).toBe(0);
      const claimed = bed.database.transaction(() => blobs.claim(number, ['1/going']));
      await expect(claimed).rejects.toMatchObject({ code: 'unavailable' });
      expect(await bed.blobs()).toEqual(['going']);
      go();
      await released;
    });
    expect([await bed.blobs(), await bed.count('loose_blobs')]).toEqual([[], 0]);
  });

  it('goes with a later sweep where the process that removed it was killed', async () => {
    const killed = watched({ ...bed.store, remove: () => new Promise(() => {}) });
    await inProject(async () => {
      await killed.blobs.lease(number, '1/abandoned');
      await bed.store.put('1/abandoned', bytes());
      void killed.blobs.release(number, '1/abandoned');
      await until(async () => (await bed.database.query(going)).length === 1);
    });
    await bed.service.sweepBlobs();
    expect(await bed.count('loose_blobs')).toBe(1);
    bed.clock.pass(61_000);
    await bed.service.sweepBlobs();
    expect([await bed.blobs(), await bed.count('loose_blobs')]).toEqual([[], 0]);
  });
});
