import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createSweeper, workLeft } from './sweeper.ts';

const failed = (error: unknown) => {
  throw error;
};

describe('a sweeper', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('runs at start and at its interval', async () => {
    let runs = 0;
    const sweeper = createSweeper(async () => runs++, failed, 1000);
    sweeper.start();
    await jest.advanceTimersByTimeAsync(2500);
    expect(runs).toBe(3);
    await sweeper.stop();
    await jest.advanceTimersByTimeAsync(2500);
    expect(runs).toBe(3);
  });

  it('runs again at once where work is left, and once at a time', async () => {
    let runs = 0;
    let underWay = 0;
    let most = 0;
    const sweep = async () => {
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setTimeout(resolve, 600));
      underWay -= 1;
      return ++runs < 5 ? workLeft : undefined;
    };
    const sweeper = createSweeper(sweep, failed, 1000);
    sweeper.start();
    await jest.advanceTimersByTimeAsync(3000);
    expect({ runs, most }).toEqual({ runs: 5, most: 1 });
    await jest.advanceTimersByTimeAsync(600);
    await sweeper.stop();
  });

  it('begins nothing more once it is stopped, and waits for what runs', async () => {
    let runs = 0;
    const sweeper = createSweeper(
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 600));
        runs += 1;
        return workLeft;
      },
      failed,
      1000,
    );
    sweeper.start();
    const stopped = sweeper.stop();
    await jest.advanceTimersByTimeAsync(5000);
    await stopped;
    expect(runs).toBe(1);
  });

  it('goes on at its interval after an error', async () => {
    const errors: unknown[] = [];
    const sweeper = createSweeper(
      async () => {
        throw new Error('no database');
      },
      (error) => errors.push(error),
      1000,
    );
    sweeper.start();
    await jest.advanceTimersByTimeAsync(1500);
    expect(errors).toHaveLength(2);
    await sweeper.stop();
  });
});
