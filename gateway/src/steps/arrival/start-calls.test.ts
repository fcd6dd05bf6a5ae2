import { expect, test } from '@jest/globals';
import { createStartCalls, roundMs } from './start-calls.ts';

/** A loop whose rounds end when told to, and calls that take a millisecond each to begin. */
const openLoop = () => {
  let nowMs = 0;
  let ends: Array<() => void> = [];
  const begun: string[] = [];
  const startCall = createStartCalls({
    now: () => nowMs,
    nextRound: (callback) => ends.push(callback),
  });
  return {
    begun,
    arrive: (address: string, name = address) =>
      startCall(address, () => {
        nowMs++;
        begun.push(name);
      }),
    endRound() {
      const due = ends;
      ends = [];
      for (const end of due) end();
      return due.length;
    },
  };
};

test('calls of one round begin at once until its time is over', () => {
  const { arrive, begun } = openLoop();
  for (let call = 0; call < 10; call++) arrive('a');
  expect(begun).toHaveLength(roundMs);
});

test('calls that arrive one by one wait for nothing', () => {
  const { arrive, begun, endRound } = openLoop();
  for (let call = 1; call <= 20; call++) {
    arrive('a');
    expect(begun).toHaveLength(call);
    endRound();
  }
});

test('those that wait begin round by round, in order, each once', () => {
  const { arrive, begun, endRound } = openLoop();
  const names = Array.from({ length: 10 }, (_, call) => `call ${call}`);
  for (const name of names) arrive('a', name);
  endRound();
  expect(begun).toEqual(names.slice(0, 2 * roundMs));
  endRound();
  expect(begun).toEqual(names);
});

test("an address's call waits for no more than one call of each other address", () => {
  const { arrive, begun, endRound } = openLoop();
  for (let call = 0; call < 300; call++) arrive(call % 2 === 0 ? 'a' : 'b');
  endRound();
  arrive('stranger');
  endRound();
  expect(begun.slice(2 * roundMs)).toContain('stranger');
});

test('a call that comes while others wait does not pass them', () => {
  const { arrive, begun, endRound } = openLoop();
  for (let call = 0; call < roundMs + 1; call++) arrive('a', 'early');
  arrive('a', 'late');
  endRound();
  expect(begun.at(-1)).toBe('late');
});

test('nothing is left scheduled once all have begun', () => {
  const { arrive, endRound } = openLoop();
  for (let call = 0; call < 10; call++) arrive('a');
  let rounds = 0;
  while (endRound() > 0) rounds++;
  expect(rounds).toBe(Math.ceil(10 / roundMs));
});
