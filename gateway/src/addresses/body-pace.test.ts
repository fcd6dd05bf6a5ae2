import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { usualPace, watchPace } from './body-pace.ts';

describe('the pace of a body', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const KIB = 1024;
  /** Seconds until it counts as slow; undefined where it does not within ten minutes. */
  const slowAfter = async (bytesInSecond: (second: number, req: Body) => number) => {
    const req = new Body();
    let isSlow = false;
    watchPace(req as unknown as IncomingMessage, performance.now(), usualPace, () => {
      isSlow = true;
    });
    for (let second = 1; second <= 600; second++) {
      req.socket.bytesRead += bytesInSecond(second, req);
      await jest.advanceTimersByTimeAsync(1000);
      if (isSlow) return second;
    }
    return undefined;
  };
  class Body extends EventEmitter {
    socket = { bytesRead: 500, destroyed: false };
    complete = false;
    readableLength = 0;
    readableHighWaterMark = 64 * KIB;
  }

  it('is 64 KB in 15 s, or all of it', async () => {
    expect(await slowAfter(() => 0)).toBe(15);
    expect(await slowAfter(() => 4 * KIB)).toBe(15);
    const whole = (second: number, req: Body) => {
      if (second === 14) req.complete = true;
      return 100;
    };
    expect(await slowAfter(whole)).toBeUndefined();
  });

  it('then is 16 KB a second over any 10 s', async () => {
    expect(await slowAfter(() => 17 * KIB)).toBeUndefined();
    expect(await slowAfter((second) => (second % 9 === 0 ? 160 * KIB : 0))).toBeUndefined();
    expect(await slowAfter((second) => (second === 1 ? 500 * KIB : 0))).toBe(11);
    // What came fast before does not buy more than a window.
    expect(await slowAfter((second) => (second < 60 ? 1000 * KIB : 0))).toBe(69);
    expect(await slowAfter((second) => (second === 1 ? 500 * KIB : 15 * KIB))).toBeLessThan(180);
  });

  it('is not kept by a byte now and then', async () => {
    expect(await slowAfter((second) => (second % 9 === 0 ? 1 : 0))).toBe(15);
    const late = (second: number) => (second === 1 ? 500 * KIB : second % 9 === 0 ? 1 : 0);
    expect(await slowAfter(late)).toBe(12);
  });

  it('is not the caller’s while the service takes nothing', async () => {
    const full = (_second: number, req: Body) => {
      req.readableLength = 64 * KIB;
      return 0;
    };
    expect(await slowAfter(full)).toBeUndefined();
  });

  it('is not watched past the end or the close of the request', async () => {
    for (const event of ['end', 'close']) {
      const end = (second: number, req: Body) => (second === 3 && req.emit(event) ? 0 : 0);
      expect(await slowAfter(end)).toBeUndefined();
    }
  });
});
