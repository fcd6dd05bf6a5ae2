import { describe, expect, it } from '@jest/globals';
import { countersConformance } from './counters.conformance.ts';
import type { RateCheck } from './counters.ts';
import { createMemoryCounters } from './memory.ts';
import { withRefusalCache } from './refusals.ts';

countersConformance('with remembered refusals', async () => {
  let now = 1_800_000_000_000;
  const clock = () => now;
  const advance = (ms: number) => {
    now += ms;
  };
  return { counters: withRefusalCache(createMemoryCounters(clock), clock), advance };
});

describe('counters that remember refusals', () => {
  const given = () => {
    const clock = { now: 1_000_000 };
    const shared = createMemoryCounters(() => clock.now);
    let asked = 0;
    const counters = withRefusalCache(
      {
        ...shared,
        admit: (...call) => {
          asked += 1;
          return shared.admit(...call);
        },
      },
      () => clock.now,
    );
    return { clock, counters, askedSoFar: () => asked };
  };
  const caller: RateCheck = { key: 'caller', limit: 60, windowMs: 60_000 };
  const project: RateCheck = { key: 'project', limit: 600, windowMs: 60_000 };

  it('let through exactly what the shared counters would, and ask them once for each that is free again', async () => {
    const { clock, counters, askedSoFar } = given();
    let allowed = 0;
    for (let call = 0; call < 6000; call++) {
      if ((await counters.admit([caller, project])).allowed) allowed += 1;
      clock.now += 10;
    }
    // A burst of 60, and one a second for the 60 s that have passed.
    expect(allowed).toBe(119);
    expect(askedSoFar()).toBeLessThan(3 * allowed);
  });

  it('state how long is still to wait', async () => {
    const { clock, counters, askedSoFar } = given();
    for (let call = 0; call < 60; call++) await counters.admit([caller]);
    expect(await counters.admit([caller])).toMatchObject({ allowed: false, retryAfterMs: 1000 });
    clock.now += 400;
    expect(await counters.admit([caller])).toMatchObject({
      allowed: false,
      retryAfterMs: 600,
      states: [{ limit: 60, remaining: 0, resetMs: 59_600 }],
    });
    expect(askedSoFar()).toBe(61);
  });

  it('know that a call is refused, whatever it weighs, from the refusal of another', async () => {
    const { clock, counters, askedSoFar } = given();
    expect(counters.knownRefusal([caller, project])).toBeUndefined();
    for (let call = 0; call < 60; call++) await counters.admit([caller, project]);
    expect(counters.knownRefusal([caller, project])).toBeUndefined();
    await counters.admit([
      { ...caller, calls: 25 },
      { ...project, calls: 25 },
    ]);
    expect(askedSoFar()).toBe(61);
    const light = [caller, { ...project, keepFree: 100 }];
    expect(counters.knownRefusal(light)).toMatchObject({
      allowed: false,
      retryAfterMs: 1000,
      states: [{ remaining: 0 }, { remaining: 440 }],
    });
    expect(counters.knownRefusal([{ ...caller, key: 'other' }, project])).toBeUndefined();
    clock.now += 1001;
    expect(counters.knownRefusal(light)).toBeUndefined();
    const heavy = light.map((check) => ({ ...check, calls: 2 }));
    expect(counters.knownRefusal(heavy)).toMatchObject({ retryAfterMs: 999 });
    expect(askedSoFar()).toBe(61);
  });

  it('ask again when a limit has changed, or another is held against the call', async () => {
    const { counters } = given();
    const none = { ...caller, limit: 0 };
    expect((await counters.admit([none])).allowed).toBe(false);
    expect((await counters.admit([caller])).allowed).toBe(true);
    expect((await counters.admit([none])).allowed).toBe(false);
    expect((await counters.admit([{ ...none, key: 'other', limit: 1 }])).allowed).toBe(true);
    const kept = { ...caller, key: 'kept', keepFree: 60 };
    expect((await counters.admit([kept])).allowed).toBe(false);
    expect((await counters.admit([{ ...kept, keepFree: 59 }])).allowed).toBe(true);
  });
});
