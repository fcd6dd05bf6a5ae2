import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Counters } from './counters.ts';

export interface CountersUnderTest<C extends Counters = Counters> {
  counters: C;
  /** Moves the counters' clock. */
  advance(ms: number): void;
}

/** What all counters guarantee. */
export const countersConformance = (
  name: string,
  create: () => Promise<CountersUnderTest>,
): void => {
  describe(`counters: ${name}`, () => {
    let subject: CountersUnderTest;
    beforeEach(async () => {
      subject = await create();
    });
    afterEach(() => subject.counters.close());
    const check = (key: string, limit: number) => ({
      key: `{tenant}:${key}`,
      limit,
      windowMs: 60_000,
    });
    const admit = (...keys: [string, number][]) =>
      subject.counters.admit(keys.map(([key, limit]) => check(key, limit)));

    it('lets a burst of exactly the limit through, however many come at once', async () => {
      const answers = await Promise.all(Array.from({ length: 64 }, () => admit(['k', 20])));
      expect(answers.filter(({ allowed }) => allowed)).toHaveLength(20);
    });

    it('refills evenly: one call every window / limit', async () => {
      for (let n = 0; n < 60; n++) expect((await admit(['k', 60])).allowed).toBe(true);
      const refused = await admit(['k', 60]);
      expect(refused).toMatchObject({
        allowed: false,
        retryAfterMs: 1000,
        states: [{ limit: 60, remaining: 0, resetMs: 60_000 }],
      });
      subject.advance(999);
      expect((await admit(['k', 60])).allowed).toBe(false);
      subject.advance(1);
      expect((await admit(['k', 60])).allowed).toBe(true);
      expect((await admit(['k', 60])).allowed).toBe(false);
    });

    it('tells what is left', async () => {
      expect((await admit(['k', 3])).states).toEqual([{ limit: 3, remaining: 2, resetMs: 20_000 }]);
      expect((await admit(['k', 3])).states).toEqual([{ limit: 3, remaining: 1, resetMs: 40_000 }]);
    });

    it('counts a call by all of its checks or by none', async () => {
      await admit(['project', 2]);
      expect((await admit(['caller', 5], ['project', 2])).allowed).toBe(true);
      for (let n = 0; n < 3; n++)
        expect((await admit(['caller', 5], ['project', 2])).allowed).toBe(false);
      expect((await admit(['caller', 5])).states[0]).toMatchObject({ remaining: 3 });
    });

    it('keeps keys apart, and a limit of 0 refuses all', async () => {
      await admit(['a', 1]);
      expect((await admit(['a', 1])).allowed).toBe(false);
      expect((await admit(['b', 1])).allowed).toBe(true);
      expect(await admit(['c', 0])).toMatchObject({ allowed: false, retryAfterMs: 60_000 });
    });

    it('keeps calls free for others', async () => {
      const project = check('project', 10);
      const modest = () => subject.counters.admit([{ ...project, keepFree: 4 }]);
      for (let n = 0; n < 6; n++)
        expect(await modest()).toMatchObject({ allowed: true, states: [{ remaining: 5 - n }] });
      expect(await modest()).toMatchObject({
        allowed: false,
        retryAfterMs: 6000,
        states: [{ remaining: 0 }],
      });
      expect(await admit(['project', 10])).toMatchObject({
        allowed: true,
        states: [{ remaining: 3 }],
      });
      subject.advance(6000);
      expect((await modest()).allowed).toBe(false);
      subject.advance(6000);
      expect((await modest()).allowed).toBe(true);
    });

    it('counts a heavy call as so many, or not at all', async () => {
      const heavy = (calls: number) =>
        subject.counters.admit([
          { ...check('caller', 60), calls },
          { ...check('project', 100), calls },
        ]);
      expect(await heavy(25)).toMatchObject({
        allowed: true,
        states: [
          { remaining: 35, resetMs: 25_000 },
          { remaining: 75, resetMs: 15_000 },
        ],
      });
      expect((await heavy(25)).allowed).toBe(true);
      expect(await heavy(25)).toMatchObject({
        allowed: false,
        retryAfterMs: 15_000,
        states: [{ remaining: 10 }, { remaining: 50 }],
      });
      expect(await heavy(10)).toMatchObject({ allowed: true, states: [{ remaining: 0 }, {}] });
      subject.advance(24_999);
      expect((await heavy(25)).allowed).toBe(false);
      subject.advance(1);
      expect((await heavy(25)).allowed).toBe(true);
    });

    it('lets heavy calls at once use no more than the limit together', async () => {
      const answers = await Promise.all(
        Array.from({ length: 30 }, () =>
          subject.counters.admit([{ ...check('caller', 60), calls: 25 }]),
        ),
      );
      expect(answers.filter(({ allowed }) => allowed)).toHaveLength(2);
    });

    it('lets a call that is heavier than the limit through where all is free', async () => {
      const heavy = () =>
        subject.counters.admit([{ ...check('project', 10), keepFree: 4, calls: 25 }]);
      expect(await heavy()).toMatchObject({ allowed: true, states: [{ remaining: 0 }] });
      expect(await heavy()).toMatchObject({ allowed: false, retryAfterMs: 36_000 });
      subject.advance(36_000);
      expect((await heavy()).allowed).toBe(true);
    });

    it('knows of no refusal that a call does not meet', async () => {
      const weight = fc.integer({ min: 1, max: 12 });
      const gap = fc.integer({ min: 0, max: 15_000 });
      const calls = fc.array(fc.tuple(gap, weight, fc.integer({ min: 0, max: 8 })), {
        maxLength: 40,
      });
      await fc.assert(
        fc.asyncProperty(calls, fc.uuid(), async (steps, key) => {
          for (const [gapMs, calls, keepFree] of steps) {
            subject.advance(gapMs);
            const checks = [
              { ...check(`${key}:caller`, 10), calls },
              { ...check(`${key}:project`, 16), calls, keepFree },
            ];
            const known = subject.counters.knownRefusal(checks);
            const { allowed } = await subject.counters.admit(checks);
            expect([known?.allowed, allowed]).not.toEqual([false, true]);
          }
        }),
        { numRuns: 50 },
      );
    });

    it('never lets more than limit + refill through, and the stated wait is enough', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 30 }),
          fc.array(fc.integer({ min: 0, max: 9000 }), { maxLength: 40 }),
          fc.uuid(),
          async (limit, gaps, key) => {
            let elapsed = 0;
            let passed = 0;
            for (const gap of gaps) {
              subject.advance(gap);
              elapsed += gap;
              const { allowed, retryAfterMs } = await admit([key, limit]);
              if (allowed) passed++;
              else {
                subject.advance(retryAfterMs);
                elapsed += retryAfterMs;
                expect((await admit([key, limit])).allowed).toBe(true);
                passed++;
              }
            }
            expect(passed).toBeLessThanOrEqual(
              limit + Math.floor((elapsed * limit) / 60_000 + 1e-6),
            );
          },
        ),
        { numRuns: 100 },
      );
    });
  });
};
