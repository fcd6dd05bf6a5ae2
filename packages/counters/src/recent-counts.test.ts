import { describe, expect, it } from '@jest/globals';
import { createRecentCounts } from './recent-counts.ts';

describe('recent counts', () => {
  const given = (maxKeys = 100) => {
    const clock = { now: 1000 };
    const counts = createRecentCounts({ windowMs: 60_000, maxKeys, now: () => clock.now });
    const burst = (key: string, limit: number) => {
      let taken = 0;
      while (counts.take(key, limit).allowed) taken++;
      return taken;
    };
    return { clock, counts, burst };
  };

  it('let a burst of the limit through, then the limit a window', () => {
    const { clock, counts, burst } = given();
    expect(burst('a', 600)).toBe(600);
    expect(burst('b', 600)).toBe(600);
    let taken = 0;
    for (let ms = 0; ms < 600_000; ms += 10) {
      clock.now += 10;
      if (counts.take('a', 600).allowed) taken++;
    }
    expect(Math.abs(taken - 6000)).toBeLessThan(60);
  });

  it('tell how long to wait, and how much was used', () => {
    const { clock, counts, burst } = given();
    expect(counts.take('a', 5)).toEqual({ allowed: true, before: 0, retryAfterMs: 0 });
    burst('a', 5);
    const { retryAfterMs, before } = counts.take('a', 5);
    expect(before).toBe(5);
    clock.now += retryAfterMs - 1;
    expect(counts.take('a', 5).allowed).toBe(false);
    clock.now += 1;
    expect(counts.take('a', 5).allowed).toBe(true);
    expect(counts.take('c', 0)).toMatchObject({ allowed: false, retryAfterMs: 60_000 });
    expect(counts.take('d', 1).allowed).toBe(true);
    expect(Number.isFinite(counts.take('d', 1).retryAfterMs)).toBe(true);
  });

  it('count what weighs more, and give all of it back', () => {
    const { counts, burst } = given();
    counts.take('a', 50);
    counts.add('a', 24);
    expect(counts.take('a', 50).before).toBe(25);
    counts.giveBack('a', 25);
    expect(burst('a', 50)).toBe(49);
  });

  it('forget what was given back, and the longest unused key', () => {
    const { counts, burst } = given(2);
    burst('a', 3);
    counts.giveBack('a', 1);
    expect(burst('a', 3)).toBe(1);
    counts.giveBack('unknown', 1);
    for (const key of ['b', 'c']) counts.take(key, 3);
    expect(counts.take('a', 3).before).toBe(0);
  });
});
