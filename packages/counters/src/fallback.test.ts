import { until } from '@backlot/testing';
import { describe, expect, it } from '@jest/globals';
import { countersConformance } from './counters.conformance.ts';
import { type Admission, type Counters, CountersUnavailable } from './counters.ts';
import { budgetsConformance } from './credits/budgets.conformance.ts';
import { creditsConformance } from './credits/credits.conformance.ts';
import { createFallbackCounters } from './fallback.ts';
import { createMemoryCounters } from './memory.ts';

function setUp() {
  let now = 1_800_000_000_000;
  let failure: Error | undefined;
  let calls = 0;
  const memory = () => createMemoryCounters(() => now);
  const central = memory();
  const shared: Counters = {
    ...central,
    async admit(checks, reservation) {
      calls++;
      if (failure) throw failure;
      return central.admit(checks, reservation);
    },
  };
  const changes: boolean[] = [];
  const counters = createFallbackCounters({
    shared,
    local: memory(),
    now: () => now,
    onChange: (degraded) => void changes.push(degraded),
  });
  return {
    counters,
    changes,
    calls: () => calls,
    advance: (ms: number) => {
      now += ms;
    },
    fail: (error: Error | undefined) => {
      failure = error;
    },
  };
}

const unavailable = new CountersUnavailable('Redis does not answer.');
const once = [{ key: 'k', limit: 1, windowMs: 60_000 }];

countersConformance('shared, with local ones to fall back on', async () => setUp());
creditsConformance('shared, with local ones to fall back on', async () => setUp());
budgetsConformance('shared, with local ones to fall back on', async () => setUp());

countersConformance('local, while the shared ones are out of reach', async () => {
  const subject = setUp();
  subject.fail(unavailable);
  return subject;
});

describe('counters with a fallback', () => {
  it('reserve no credits while the shared ones fail, and count the call locally', async () => {
    const { counters, fail } = setUp();
    const request = { ownerId: 'o', callId: 'c', wantMillicredits: 1000, minMillicredits: 1000 };
    await counters.load('o', 5000, 1);
    fail(unavailable);
    expect(await counters.admit(once, request)).toMatchObject({
      allowed: true,
      reservation: { kind: 'unavailable', isRefused: false },
    });
    expect((await counters.admit(once, request)).allowed).toBe(false);
    expect(await counters.reserved('o')).toBe(0);
  });

  it('hold the limit locally while the shared ones fail, and say so', async () => {
    const { counters, changes, fail } = setUp();
    expect(counters.degraded()).toBe(false);
    fail(unavailable);
    expect((await counters.admit(once)).allowed).toBe(true);
    expect((await counters.admit(once)).allowed).toBe(false);
    expect(counters.degraded()).toBe(true);
    expect(changes).toEqual([true]);
  });

  it('ask the shared ones once a second meanwhile, and come back by themselves', async () => {
    const { counters, calls, changes, advance, fail } = setUp();
    fail(unavailable);
    for (let call = 0; call < 10; call++) await counters.admit(once);
    expect(calls()).toBe(1);
    advance(1000);
    await Promise.all(Array.from({ length: 10 }, () => counters.admit(once)));
    expect(calls()).toBe(2);
    advance(1000);
    fail(undefined);
    expect((await counters.admit(once)).allowed).toBe(true);
    expect(counters.degraded()).toBe(false);
    expect(changes).toEqual([true, false]);
    await counters.admit(once);
    expect(calls()).toBe(4);
  });

  it('find out by themselves that the shared ones are back, where no call comes', async () => {
    let failing = true;
    const shared = createMemoryCounters(Date.now);
    const counters = createFallbackCounters({
      shared: {
        ...shared,
        admit: (...call) => (failing ? Promise.reject(unavailable) : shared.admit(...call)),
      },
      local: createMemoryCounters(Date.now),
      now: Date.now,
      pauseMs: 5,
    });
    await counters.admit(once);
    expect(counters.degraded()).toBe(true);
    failing = false;
    await until(() => !counters.degraded());
    await counters.close();
  });

  it('do not take the late answer from before an outage for its end', async () => {
    const answers: ((admission: Admission) => void)[] = [];
    let failing = false;
    const shared: Counters = {
      ...createMemoryCounters(() => 0),
      admit: () =>
        failing ? Promise.reject(unavailable) : new Promise((resolve) => answers.push(resolve)),
    };
    const local = createMemoryCounters(() => 0);
    const counters = createFallbackCounters({ shared, local, now: () => 0 });
    const early = counters.admit(once);
    failing = true;
    await counters.admit(once);
    answers[0]?.({ allowed: true, retryAfterMs: 0, states: [] });
    await early;
    expect(counters.degraded()).toBe(true);
  });

  it('hide no other error', async () => {
    const { counters, fail } = setUp();
    fail(new RangeError('The keys share no hash tag.'));
    await expect(counters.admit(once)).rejects.toThrow(RangeError);
    expect(counters.degraded()).toBe(false);
  });
});
