import { describe, expect, it } from '@jest/globals';
import { until } from './until.ts';

describe('until', () => {
  it('returns the first answer that is neither undefined, null nor false', async () => {
    const answers = [undefined, null, false, 0, 1];
    await expect(until(() => answers.shift())).resolves.toBe(0);
  });

  it('asks again after an error', async () => {
    let asked = 0;
    const answer = await until(async () => {
      asked += 1;
      if (asked < 3) throw new Error('not yet');
      return 'there';
    });
    expect(answer).toBe('there');
  });

  it('asks once more where the time is over after a check that took long', async () => {
    let asked = 0;
    const slow = () => {
      const end = performance.now() + 50;
      while (performance.now() < end);
      return ++asked === 2;
    };
    await expect(until(slow, { timeoutMs: 30 })).resolves.toBe(true);
  });

  it('gives up at the timeout, with the last error as the cause', async () => {
    const cause = new Error('never');
    const failing = until(
      () => {
        throw cause;
      },
      { timeoutMs: 30, what: 'the impossible' },
    );
    await expect(failing).rejects.toMatchObject({
      message: 'the impossible was not met within 30 ms',
      cause,
    });
  });
});
