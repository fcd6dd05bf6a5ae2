import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { CountersUnderTest } from '../counters.conformance.ts';
import type { Counters } from '../counters.ts';
import { type Budget, reservationTtlMs, settledTtlMs } from './credits.ts';

const day = '2027-01-15';
const month = '2027-01';

/** What all counters guarantee of budgets. */
export const budgetsConformance = (
  name: string,
  create: () => Promise<CountersUnderTest<Counters>>,
): void => {
  describe(`budgets: ${name}`, () => {
    let subject: CountersUnderTest<Counters>;
    let ownerId: string;
    beforeEach(async () => {
      subject = await create();
      ownerId = randomUUID();
      await subject.counters.load(ownerId, 100_000, 1);
    });
    afterEach(() => subject.counters.close());

    const visitor = (limit: Budget['limit'] = 4000, name = '1001:ip:192.0.2.1'): Budget => ({
      of: 'visitors',
      name,
      period: day,
      limit,
    });
    const all = (limit: Budget['limit'] = 10_000) => visitor(limit, '1001:all');
    const ofProject = (limit: number, period = month): Budget => ({
      of: 'project',
      name: '1001',
      period,
      limit,
    });
    const reserve = async (
      budgets: readonly Budget[],
      want = 1000,
      callId: string = randomUUID(),
    ) => {
      const amounts = { wantMillicredits: want, minMillicredits: 1000 };
      const request = { ownerId, callId, budgets, ...amounts };
      return (await subject.counters.admit([], request)).reservation;
    };
    /** What the budgets leave: reserved, and given back. */
    const left = async (budgets: readonly Budget[]) => {
      const callId = randomUUID();
      const outcome = await reserve(budgets, 1_000_000, callId);
      await subject.counters.settle(ownerId, callId, 0);
      return outcome?.kind === 'reserved' ? outcome.millicredits : outcome?.kind;
    };

    it('let exactly as many parallel calls pass as each of them leaves, and name the one that refuses', async () => {
      const from = (n: number) => [visitor(4000, `1001:ip:192.0.2.${n % 4}`), all()];
      const outcomes = await Promise.all(Array.from({ length: 80 }, (_, n) => reserve(from(n))));
      expect(outcomes.filter((outcome) => outcome?.kind === 'reserved')).toHaveLength(10);
      expect(outcomes.filter((outcome) => outcome?.kind === 'over_budget')).toHaveLength(70);
      expect(await subject.counters.reserved(ownerId)).toBe(10_000);
      expect(await reserve([visitor(4000, '1001:ip:192.0.2.9'), all()])).toEqual({
        kind: 'over_budget',
        budget: all(),
      });
    });

    it('reserve what is left of them, and say which one bounds a call', async () => {
      expect(await reserve([visitor(4000), all()], 2500)).toEqual({
        kind: 'reserved',
        millicredits: 2500,
      });
      expect(await reserve([visitor(4000), all()], 2500)).toEqual({
        kind: 'reserved',
        millicredits: 1500,
        boundBy: visitor(4000),
      });
      expect(await reserve([visitor(4000), all()])).toEqual({
        kind: 'over_budget',
        budget: visitor(4000),
      });
    });

    it('are not named where the owner has less', async () => {
      await subject.counters.load(ownerId, 1500, 2);
      expect(await reserve([visitor(4000)], 9000)).toEqual({
        kind: 'reserved',
        millicredits: 1500,
      });
      expect(await reserve([visitor(4000)])).toEqual({ kind: 'insufficient' });
    });

    it('get back what a call did not use, and all of one that failed', async () => {
      const callIds = [randomUUID(), randomUUID()] as const;
      await reserve([visitor(), all()], 2000, callIds[0]);
      await reserve([visitor(), all()], 2000, callIds[1]);
      await subject.counters.settle(ownerId, callIds[0], 0);
      await subject.counters.settle(ownerId, callIds[1], 500);
      expect(await left([visitor()])).toBe(3500);
      expect(await left([all()])).toBe(9500);
    });

    it('take what is booked for a call that was never settled, once', async () => {
      const callId = randomUUID();
      await reserve([visitor()], 4000, callId);
      const booked = [{ callId, millicredits: 1200 }];
      await subject.counters.book(ownerId, 98_800, 2, booked);
      await subject.counters.settle(ownerId, callId, 1200);
      await subject.counters.book(ownerId, 98_800, 2, booked);
      expect(await left([visitor()])).toBe(2800);
    });

    it('keep what a settled call has used when it is booked, or never is', async () => {
      const callIds = [randomUUID(), randomUUID()] as const;
      for (const callId of callIds) {
        await reserve([visitor()], 2000, callId);
        await subject.counters.settle(ownerId, callId, 1000);
      }
      await subject.counters.book(ownerId, 99_000, 2, [{ callId: callIds[0], millicredits: 1000 }]);
      subject.advance(settledTtlMs + 1000);
      expect(await left([visitor()])).toBe(2000);
    });

    it('get back the reservation of a lost gateway', async () => {
      await reserve([visitor(), all()], 4000);
      subject.advance(reservationTtlMs + 1000);
      expect(await left([visitor()])).toBe(4000);
    });

    it('are a part of what the owner has for the month, one call at least', async () => {
      await subject.counters.load(ownerId, 60_000, 2, { monthMillicredits: 100_000 });
      expect(await left([visitor({ partOfMonth: 0.04 })])).toBe(4000);
      await subject.counters.book(ownerId, 59_000, 3, [], { monthMillicredits: 200_000 });
      expect(await left([visitor({ partOfMonth: 0.04 })])).toBe(8000);
      expect(await left([visitor({ partOfMonth: 0.0001 })])).toBe(1000);
      expect(await left([visitor(0)])).toBe('over_budget');
    });

    it('are of one day, one month, one name and one owner', async () => {
      await reserve([visitor(), all()], 4000);
      expect(await left([{ ...visitor(), period: '2027-01-16' }])).toBe(4000);
      expect(await left([visitor(4000, '1002:ip:192.0.2.1')])).toBe(4000);
      ownerId = randomUUID();
      await subject.counters.load(ownerId, 100_000, 1);
      expect(await left([visitor()])).toBe(4000);
    });

    it('of a project wait for what the ledger has booked, and count on from there', async () => {
      expect(await reserve([ofProject(9000)])).toEqual({ kind: 'unloaded' });
      const used = [{ name: '1001', period: month, millicredits: 5500 }];
      await subject.counters.load(ownerId, 100_000, 1, { used });
      const callId = randomUUID();
      expect(await reserve([ofProject(9000)], 2000, callId)).toMatchObject({ kind: 'reserved' });
      await subject.counters.load(ownerId, 100_000, 1, { used });
      expect(await left([ofProject(9000)])).toBe(1500);
      await subject.counters.settle(ownerId, callId, 0);
      expect(await left([ofProject(9000)])).toBe(3500);
      expect(await reserve([ofProject(9000, day)])).toEqual({ kind: 'unloaded' });
    });

    it('of a project stay known where all that it used was given back', async () => {
      const used = [{ name: '1001', period: month, millicredits: 0 }];
      await subject.counters.load(ownerId, 100_000, 1, { used });
      expect(await left([ofProject(9000)])).toBe(9000);
      expect(await left([ofProject(9000)])).toBe(9000);
    });

    it('count a call by all of them or by none', async () => {
      await reserve([visitor(), all(3000)], 3000);
      expect(await reserve([visitor(), all(3000)])).toMatchObject({ kind: 'over_budget' });
      expect(await left([visitor()])).toBe(1000);
    });
  });
};
