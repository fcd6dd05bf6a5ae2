import { describe, expect, it } from '@jest/globals';
import { requester, setUp } from './testing/shares-under-test.ts';

describe('slices', () => {
  it('let others go between two parts of long work, which then goes on', async () => {
    const { time, shares, begun, job } = setUp({ sliceMs: 50 });
    const long = shares.run(requester('eve'), async (yieldSlot) => {
      for (let part = 0; part < 6; part++) {
        begun.push(`part ${part}`);
        await time.sleep(25);
        await yieldSlot();
      }
    });
    const short = job(requester('ada'), 10, 'short');
    await time.pass();
    await Promise.all([long, short]);
    expect(begun).toEqual(['part 0', 'part 1', 'short', ...[2, 3, 4, 5].map((n) => `part ${n}`)]);
  });

  it('move work that was taken for quick to the slow lane', async () => {
    const { time, shares } = setUp({ slots: 1, quickSlots: 1, sliceMs: 50 });
    const long = shares.run(
      requester('eve'),
      async (yieldSlot) => {
        await time.sleep(60);
        await yieldSlot();
        await time.sleep(60);
      },
      { isQuick: true },
    );
    await time.pass(70);
    expect(shares.usage()).toMatchObject({ quick: { running: 0 }, slow: { running: 1 } });
    await time.pass();
    await long;
    expect(shares.usage()).toMatchObject({ quick: { costMs: 60 }, slow: { costMs: 60 } });
  });

  it('end work whose caller has gone, whether it waits or runs', async () => {
    for (const others of [0, 1]) {
      const { time, shares, begun, job } = setUp({ sliceMs: 50 });
      const gone = new AbortController();
      const long = shares.run(
        requester('eve'),
        async (yieldSlot) => {
          for (;;) {
            begun.push('part');
            await time.sleep(60);
            await yieldSlot();
          }
        },
        { signal: gone.signal },
      );
      const ended = expect(long).rejects.toThrow('gone');
      for (let n = 0; n < others; n++) void job(requester('ada'), 1000);
      await time.pass(100);
      gone.abort(new Error('gone'));
      await time.pass();
      await ended;
      expect(begun.filter((entry) => entry === 'part')).toHaveLength(2 - others);
      expect(shares.usage().slow).toMatchObject({ running: 0, waiting: 0 });
    }
  });
});
