import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { CountersUnderTest } from '../counters.conformance.ts';
import type { Counters } from '../counters.ts';
import { reservationTtlMs, settledTtlMs } from './credits.ts';

/** What all counters guarantee of credits. */
export const creditsConformance = (
  name: string,
  create: () => Promise<CountersUnderTest<Counters>>,
): void => {
  describe(`credits: ${name}`, () => {
    let subject: CountersUnderTest<Counters>;
    let ownerId: string;
    beforeEach(async () => {
      subject = await create();
      ownerId = randomUUID();
    });
    afterEach(() => subject.counters.close());

    const check = (limit = 1_000_000) => ({ key: `rl:{o:${ownerId}}:p`, limit, windowMs: 60_000 });
    const reserve = async (want: number, callId: string = randomUUID(), limit?: number) => {
      const request = {
        ownerId,
        callId,
        wantMillicredits: want,
        minMillicredits: Math.min(want, 1000),
      };
      return subject.counters.admit([check(limit)], request);
    };
    const outcome = async (want: number, callId?: string) =>
      (await reserve(want, callId)).reservation;

    it('lets exactly k of n parallel calls pass that cost one credit each', async () => {
      await subject.counters.load(ownerId, 100_000, 1);
      const outcomes = await Promise.all(Array.from({ length: 400 }, () => outcome(1000)));
      expect(outcomes.filter((outcome) => outcome?.kind === 'reserved')).toHaveLength(100);
      expect(outcomes.filter((outcome) => outcome?.kind === 'insufficient')).toHaveLength(300);
      expect(await subject.counters.reserved(ownerId)).toBe(100_000);
    });

    it('knows nothing of an owner before it is loaded, and counts nothing meanwhile', async () => {
      const before = await reserve(1000, undefined, 5);
      expect(before).toMatchObject({
        allowed: true,
        reservation: { kind: 'unloaded' },
        states: [{ remaining: 5 }],
      });
      await subject.counters.load(ownerId, 1000, 1);
      expect(await reserve(1000, undefined, 5)).toMatchObject({
        reservation: { kind: 'reserved' },
        states: [{ remaining: 4 }],
      });
    });

    it('reserves what is left when that is less than the worst case, but no less than the minimum', async () => {
      await subject.counters.load(ownerId, 2500, 1);
      expect(await outcome(2000)).toEqual({ kind: 'reserved', millicredits: 2000 });
      expect(await outcome(2000)).toEqual({ kind: 'insufficient' });
      await subject.counters.load(ownerId, 3500, 2);
      expect(await outcome(2000)).toEqual({ kind: 'reserved', millicredits: 1500 });
    });

    it('reserves nothing for a call that the limits refuse', async () => {
      await subject.counters.load(ownerId, 100_000, 1);
      await reserve(1000, undefined, 1);
      expect(await reserve(1000, undefined, 1)).toMatchObject({ allowed: false });
      expect(await subject.counters.reserved(ownerId)).toBe(1000);
    });

    it('settles to what was used, gives the rest back, and forgets it once it is booked', async () => {
      const callId = randomUUID();
      await subject.counters.load(ownerId, 5000, 1);
      await outcome(4000, callId);
      await subject.counters.settle(ownerId, callId, 1500);
      expect(await subject.counters.held(ownerId)).toEqual([{ callId, millicredits: 1500 }]);
      await subject.counters.book(ownerId, 3500, 2, [{ callId, millicredits: 1500 }]);
      expect(await subject.counters.reserved(ownerId)).toBe(0);
      expect(await outcome(9000)).toEqual({ kind: 'reserved', millicredits: 3500 });
    });

    it('gives all back for a call that failed', async () => {
      const callId = randomUUID();
      await subject.counters.load(ownerId, 1000, 1);
      await outcome(1000, callId);
      await subject.counters.settle(ownerId, callId, 0);
      expect(await subject.counters.held(ownerId)).toEqual([]);
      expect(await outcome(1000)).toMatchObject({ kind: 'reserved' });
    });

    it('takes a booking that comes before the settlement, and the settlement changes nothing more', async () => {
      const callId = randomUUID();
      await subject.counters.load(ownerId, 5000, 1);
      await outcome(1000, callId);
      await subject.counters.book(ownerId, 4000, 2, [{ callId, millicredits: 1000 }]);
      await subject.counters.settle(ownerId, callId, 1000);
      expect(await subject.counters.reserved(ownerId)).toBe(0);
      expect(await outcome(9000)).toEqual({ kind: 'reserved', millicredits: 4000 });
    });

    it('keeps the newest balance whatever the order of arrival', async () => {
      await subject.counters.load(ownerId, 3000, 7);
      await subject.counters.load(ownerId, 9000, 6);
      await subject.counters.book(ownerId, 8000, 5, []);
      expect(await outcome(9000)).toEqual({ kind: 'reserved', millicredits: 3000 });
    });

    it('frees the reservation of a lost gateway, and keeps what was settled until it is booked', async () => {
      const settled = randomUUID();
      await subject.counters.load(ownerId, 3000, 1);
      await outcome(1000);
      await outcome(1000, settled);
      await subject.counters.settle(ownerId, settled, 1000);
      subject.advance(reservationTtlMs + 1000);
      expect(await subject.counters.held(ownerId)).toEqual([
        { callId: settled, millicredits: 1000 },
      ]);
      subject.advance(settledTtlMs);
      expect(await subject.counters.reserved(ownerId)).toBe(0);
    });

    it('keeps owners apart', async () => {
      await subject.counters.load(ownerId, 1000, 1);
      await outcome(1000);
      const other = randomUUID();
      await subject.counters.load(other, 1000, 1);
      expect(await subject.counters.reserved(other)).toBe(0);
    });
  });
};
