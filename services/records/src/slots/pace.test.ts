import { describe, expect, it } from '@jest/globals';
import { batchMs, createPace } from './pace.ts';

const small = { ms: 1 / 13, bytes: 600 };
const large = { ms: 4, bytes: 1024 * 1024 };
/** What each transaction takes besides its records. */
const transactionMs = 3;

/** Batches of records that take so long each, in a time of their own. */
const createBatches = () => {
  let restedMs = 0;
  let workedMs = 0;
  const pace = createPace({
    sleep: async (ms) => {
      restedMs += ms;
    },
  });
  return {
    rested: () => restedMs,
    worked: () => workedMs,
    async run(collection: string, record = small, besidesMs = transactionMs) {
      const rows = pace.rows(collection);
      const fillMs = rows * record.ms;
      workedMs += fillMs + besidesMs;
      const batch = { rows, bytes: rows * record.bytes, fillMs };
      await pace.rest(collection, batch, fillMs + besidesMs);
      return batch;
    },
  };
};

describe('the pace of batches', () => {
  it('takes a million small records in less than three minutes, with rests as long as the work', async () => {
    const { run, worked, rested } = createBatches();
    for (let done = 0; done < 1_000_000; ) {
      const { rows, fillMs } = await run('small');
      expect(fillMs).toBeLessThanOrEqual(batchMs + small.ms);
      done += rows;
    }
    expect(rested()).toBe(worked());
    expect(worked() + rested()).toBeLessThan(180_000);
  });

  it('follows how large the documents are, in each collection by itself', async () => {
    const { run } = createBatches();
    for (let n = 0; n < 10; n++) await run('small');
    await run('large', large);
    for (let n = 0; n < 10; n++) {
      expect((await run('large', large)).fillMs).toBeLessThanOrEqual(batchMs);
      expect((await run('small')).fillMs).toBeGreaterThan(batchMs - 1);
    }
  });

  it('makes no batch smaller for what a busy machine adds to it, and rests for 200 ms at most', async () => {
    const { run, rested } = createBatches();
    for (let n = 0; n < 10; n++) await run('busy', small, 1000);
    expect(rested()).toBe(2000);
    expect((await run('busy')).fillMs).toBeGreaterThan(batchMs - 1);
    for (let n = 0; n < 10; n++) await run('busy', { ...small, ms: 100 });
    expect((await run('busy')).rows).toBe(100);
  });
});
