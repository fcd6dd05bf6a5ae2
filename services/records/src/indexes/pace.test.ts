import { describe, expect, it } from '@jest/globals';
import { createPace } from './pace.ts';

/** As measured with records of 1 KB in batches of 100, beside four writers. */
const small = { ms: 0.03, bytes: 600 };
const large = { ms: 4, bytes: 1024 * 1024 };
/** What each transaction takes besides its records. */
const transactionMs = 2;

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
      const ms = rows * record.ms + besidesMs;
      workedMs += ms;
      await pace.rest(collection, { rows, bytes: rows * record.bytes }, ms);
      return { rows };
    },
  };
};

describe('the pace of batches', () => {
  it('takes a million small records in less than 90 seconds, with rests as long as the work', async () => {
    const { run, worked, rested } = createBatches();
    for (let done = 0; done < 1_000_000; ) done += (await run('small')).rows;
    expect(rested()).toBe(worked());
    expect(worked() + rested()).toBeLessThan(90_000);
  });

  it('follows how large the documents are, in each collection by itself', async () => {
    const { run } = createBatches();
    for (let n = 0; n < 3; n++) await run('small');
    await run('large', large);
    for (let n = 0; n < 3; n++) {
      expect((await run('large', large)).rows).toBe(4);
      expect((await run('small')).rows).toBe(200);
    }
  });

  it('rests as long as a busy machine has taken, and for 200 ms at most', async () => {
    const { run, rested } = createBatches();
    await run('busy', small, 94);
    expect(rested()).toBe(100);
    await run('busy', small, 1000);
    expect(rested()).toBe(300);
    expect((await run('busy')).rows).toBe(200);
  });
});
