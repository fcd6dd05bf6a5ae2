import { describe, expect, it } from '@jest/globals';
import { createPace } from './pace.ts';

describe('the pace', () => {
  it('lets as many go at once as in a second, then evenly', () => {
    let now = 1000;
    const pace = createPace(10, () => now);
    expect([pace.free(), pace.waitMs()]).toEqual([10, 0]);
    pace.take(10);
    expect([pace.free(), pace.waitMs()]).toEqual([0, 100]);
    now += 100;
    expect([pace.free(), pace.waitMs()]).toEqual([1, 0]);
    pace.take(1);
    now += 60_000;
    expect(pace.free()).toBe(10);
    now -= 30_000;
    expect(pace.free()).toBe(10);
  });
});
