import { describe, expect, it } from '@jest/globals';
import type { FairShareFull } from './index.ts';
import { requester, setUp } from './testing/shares-under-test.ts';

describe('waiting', () => {
  it('is bounded for a requester', async () => {
    const { time, job, shares } = setUp({ maxWaitingPerRequester: 3, random: () => 0.99 });
    const jobs = Array.from({ length: 4 }, () => job(requester('eve'), 10));
    await expect(job(requester('eve'), 10)).rejects.toMatchObject({
      name: 'FairShareFull',
      retryAfterSeconds: 4,
    });
    const other = job(requester('eve', 'shop', 'another address'), 10);
    await time.pass();
    await Promise.all([...jobs, other]);
    expect(shares.usage().slow.refused).toBe(1);
  });

  it('is bounded in all, where the latest of whoever has most gives way', async () => {
    const { time, job } = setUp({ maxWaiting: 6 });
    const addresses = ['1', '2', '3', '4', '5', '6', '7'];
    const eves = addresses.map((address) => job(requester('eve', 'shop', address), 10));
    const outcomes = Promise.allSettled(eves);
    await expect(job(requester('eve', 'shop', '8'), 10)).rejects.toMatchObject({
      name: 'FairShareFull',
    });
    const adas = [job(requester('ada'), 10), job(requester('ada'), 10), job(requester('ada'), 10)];
    await time.pass();
    expect(await Promise.all(adas)).toHaveLength(3);
    expect((await outcomes).filter(({ status }) => status === 'rejected')).toHaveLength(3);
  });

  it('is bounded for a project, where its largest address gives way to its others', async () => {
    const { time, job } = setUp({ maxWaitingPerProject: 3 });
    const crowd = Array.from({ length: 4 }, () => job(requester('eve', 'shop', 'crowd'), 10));
    const outcomes = Promise.allSettled(crowd);
    const visitor = job(requester('eve', 'shop', 'visitor'), 10, 'visitor');
    const second = job(requester('eve', 'shop', 'second'), 10);
    const third = job(requester('eve', 'shop', 'third'), 10);
    await expect(third).rejects.toMatchObject({ name: 'FairShareFull' });
    const elsewhere = job(requester('eve', 'another'), 10, 'elsewhere');
    await time.pass();
    await second;
    expect(await Promise.all([visitor, elsewhere])).toEqual(['visitor', 'elsewhere']);
    expect((await outcomes).filter(({ status }) => status === 'rejected')).toHaveLength(2);
  });

  it('gives way to a new address of the same owner too', async () => {
    const { time, job } = setUp({ maxWaiting: 4 });
    const eves = Array.from({ length: 5 }, () => job(requester('eve', 'shop', 'crowd'), 10));
    const outcomes = Promise.allSettled(eves);
    const visitor = job(requester('eve', 'shop', 'visitor'), 10, 'visitor');
    await time.pass();
    await expect(visitor).resolves.toBe('visitor');
    expect((await outcomes).map(({ status }) => status).at(-1)).toBe('rejected');
  });

  it('is refused for a time that differs by chance', async () => {
    const random = [0, 0.3, 0.6, 0.9];
    const { job } = setUp({ maxWaitingPerRequester: 1, random: () => random.shift() ?? 0 });
    void job(requester('eve'), 10);
    void job(requester('eve'), 10);
    const seconds = [];
    for (let n = 0; n < 4; n++) {
      const error = await job(requester('eve'), 10).catch((reason: FairShareFull) => reason);
      seconds.push(typeof error === 'string' ? error : error.retryAfterSeconds);
    }
    expect(seconds).toEqual([1, 2, 3, 4]);
  });

  it('can be asked for before other work is done', async () => {
    const { time, job, shares } = setUp({ maxWaitingPerRequester: 2, maxWaiting: 3 });
    const jobs = Array.from({ length: 3 }, () => job(requester('eve'), 10));
    const outcomes = Promise.allSettled(jobs);
    expect(() => shares.checkRoom(requester('eve'))).toThrow('Too many wait for a slot.');
    const ada = job(requester('ada'), 10);
    shares.checkRoom(requester('bob'));
    const bob = job(requester('bob'), 10);
    expect(() => shares.checkRoom(requester('carl'))).toThrow('Too many wait for a slot.');
    expect(shares.usage().slow).toMatchObject({ waiting: 3, refused: 3 });
    await time.pass();
    await Promise.all([ada, bob]);
    expect((await outcomes).filter(({ status }) => status === 'rejected')).toHaveLength(1);
  });

  it('ends when the caller has gone', async () => {
    const { time, shares, begun, job } = setUp();
    const first = job(requester('ada'), 10);
    const gone = new AbortController();
    const waits = shares.run(requester('eve'), async () => begun.push('gone'), {
      signal: gone.signal,
    });
    expect(shares.usage().slow.waiting).toBe(1);
    gone.abort(new Error('gone'));
    await expect(waits).rejects.toThrow('gone');
    expect(shares.usage().slow.waiting).toBe(0);
    await expect(
      shares.run(requester('eve'), async () => begun.push('gone'), { signal: gone.signal }),
    ).rejects.toThrow('gone');
    await time.pass();
    await first;
    expect(begun).not.toContain('gone');
  });

  it('ends after the time that a caller has for it', async () => {
    const { time, shares, job } = setUp();
    const first = job(requester('ada'), 10);
    const waits = shares.take(requester('eve'), { maxWaitMs: 1 });
    await expect(waits).rejects.toMatchObject({ name: 'WaitedTooLong' });
    expect(shares.usage().slow.waiting).toBe(0);
    await time.pass();
    await first;
    const leave = await shares.take(requester('eve'), { maxWaitMs: 1 });
    leave();
  });

  it('remembers nobody who has no work', async () => {
    const { time, shares, job } = setUp({ slots: 3 });
    const jobs = Array.from({ length: 100 }, (_, n) => job(requester(`owner ${n}`), n));
    expect(shares.usage().slow.owners).toHaveLength(100);
    await time.pass();
    await Promise.all(jobs);
    expect(shares.usage().slow).toEqual({
      slots: 3,
      running: 0,
      waiting: 0,
      refused: 0,
      owners: [],
      costMs: 4950,
    });
  });
});
