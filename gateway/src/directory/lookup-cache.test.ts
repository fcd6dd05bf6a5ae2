import { beforeEach, describe, expect, it } from '@jest/globals';
import { createLookupCache, type LookupCache } from './lookup-cache.ts';

interface Thing {
  version: number;
}

describe('look-up cache', () => {
  let now: number;
  let asked: string[];
  let answer: (key: string) => Promise<Thing | null>;
  let cache: LookupCache<Thing>;
  let eventsConnected: boolean;
  beforeEach(() => {
    now = 1000;
    eventsConnected = true;
    asked = [];
    answer = async () => ({ version: asked.length });
    cache = createLookupCache<Thing>({
      load: (key) => {
        asked.push(key);
        return answer(key);
      },
      now: () => now,
      eventsConnected: () => eventsConnected,
      maxEntries: 2,
      ttlMs: 60_000,
      maxAbsent: 2,
      absentTtlMs: 5000,
      staleMs: 60_000,
    });
  });

  it('asks once for as long as the answer lives', async () => {
    expect(cache.peek('a')).toBeUndefined();
    await cache.load('a');
    expect(cache.peek('a')).toEqual({ version: 1 });
    now += 59_999;
    expect(cache.peek('a')).toEqual({ version: 1 });
    now += 1;
    expect(cache.peek('a')).toBeUndefined();
    expect(await cache.load('a')).toEqual({ version: 2 });
  });

  it('believes nothing for longer than two seconds while events may be lost', async () => {
    await cache.load('a');
    eventsConnected = false;
    now += 1999;
    expect(cache.peek('a')).toEqual({ version: 1 });
    now += 1;
    expect(cache.peek('a')).toBeUndefined();
    expect(await cache.load('a')).toEqual({ version: 2 });
    expect(cache.peek('a')).toEqual({ version: 2 });
  });

  it('forgets all when it is told to, also what is being asked', async () => {
    await cache.load('a');
    const underWay = cache.load('b');
    cache.clear();
    await underWay;
    expect([cache.peek('a'), cache.peek('b')]).toEqual([undefined, undefined]);
  });

  it('asks once for any number of callers at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => cache.load('a')));
    expect(asked).toEqual(['a']);
    expect(new Set(answers).size).toBe(1);
  });

  it('remembers an absence shortly', async () => {
    answer = async () => null;
    expect(await cache.load('a')).toBeNull();
    expect(cache.peek('a')).toBeNull();
    now += 5000;
    expect(cache.peek('a')).toBeUndefined();
  });

  it('forgets the longest unused of too many', async () => {
    for (const key of ['a', 'b', 'c']) await cache.load(key);
    expect([cache.peek('a'), cache.peek('b'), cache.peek('c')]).toEqual([
      undefined,
      { version: 2 },
      { version: 3 },
    ]);
    answer = async () => null;
    for (const key of ['x', 'y', 'z']) await cache.load(key);
    expect([cache.peek('x'), cache.peek('z')]).toEqual([undefined, null]);
    expect(cache.peek('c')).toEqual({ version: 3 });
  });

  it('does not keep an answer that was under way when the key was dropped', async () => {
    const waiting: ((thing: Thing | null) => void)[] = [];
    answer = () => new Promise((resolve) => waiting.push(resolve));
    const before = cache.load('a');
    cache.drop('a');
    const after = cache.load('a');
    waiting[1]?.({ version: 2 });
    await after;
    waiting[0]?.({ version: 1 });
    await before;
    expect(asked).toEqual(['a', 'a']);
    expect(cache.peek('a')).toEqual({ version: 2 });
  });

  it('drops an absence as well', async () => {
    answer = async () => null;
    await cache.load('a');
    cache.drop('a');
    expect(cache.peek('a')).toBeUndefined();
  });

  it('serves what it has while the directory is down, but not for good and not after a drop', async () => {
    await cache.load('a');
    answer = async () => {
      throw new Error('down');
    };
    now += 60_000;
    expect(await cache.load('a')).toEqual({ version: 1 });
    expect(cache.peek('a')).toEqual({ version: 1 });
    now += 1000;
    expect(cache.peek('a')).toBeUndefined();
    expect(await cache.load('a')).toEqual({ version: 1 });
    now += 59_000;
    await expect(cache.load('a')).rejects.toMatchObject({
      code: 'unavailable',
      retryAfterSeconds: 2,
    });
    cache.drop('a');
    await expect(cache.load('a')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(cache.load('b')).rejects.toMatchObject({ code: 'unavailable' });
  });
});
