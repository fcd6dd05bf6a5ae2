import { describe, expect, it } from '@jest/globals';
import { createPaceRefusal } from './refusal-pace.ts';

describe('refusals of an address', () => {
  const given = (openCalls = 500) => {
    const clock = { now: 1000 };
    const waiting: { ms: number; answer: () => void }[] = [];
    const pace = createPaceRefusal(
      { openCalls },
      { now: () => clock.now, after: (ms, answer) => waiting.push({ ms, answer }) },
    );
    let answered = 0;
    const refuse = (times: number, address = '203.0.113.1') => {
      for (let n = 0; n < times; n++) pace(address, () => answered++);
    };
    return { clock, waiting, refuse, answered: () => answered };
  };

  it('come at once ten times, then ten a second, each at most half a second late', () => {
    const { waiting, refuse, answered } = given();
    refuse(10);
    expect(answered()).toBe(10);
    refuse(40);
    expect(answered()).toBe(10);
    const delays = waiting.map(({ ms }) => ms);
    expect(delays.slice(0, 3)).toEqual([100, 200, 300]);
    expect(delays.slice(3, 7)).toEqual([400, 500, 500, 500]);
    for (const { answer } of waiting) answer();
    expect(answered()).toBe(50);
  });

  it('are forgotten as they would have come', () => {
    const { clock, waiting, refuse, answered } = given();
    refuse(10);
    clock.now += 500;
    refuse(5);
    expect([answered(), waiting.length]).toEqual([15, 0]);
    refuse(1);
    expect(waiting).toHaveLength(1);
  });

  it('hold up nobody elsewhere', () => {
    const { waiting, refuse } = given();
    refuse(20);
    expect(waiting).toHaveLength(10);
    refuse(10, '198.51.100.1');
    expect(waiting).toHaveLength(10);
  });

  it('wait for no more than half of its calls at a time', () => {
    const { waiting, refuse, answered } = given(20);
    refuse(30);
    expect([waiting.length, answered()]).toEqual([10, 20]);
    for (const { answer } of waiting.splice(0)) answer();
    refuse(3);
    expect(waiting).toHaveLength(3);
  });
});
