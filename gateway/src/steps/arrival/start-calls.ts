/** Begins a call now or, where this round of the event loop has begun enough of them, in one of the next. */
export type StartCall = (address: string, begin: () => void) => void;

export interface StartClock {
  /** Milliseconds that only go forward. */
  now(): number;
  /** Calls back in the next round, after what the sockets have brought until then. */
  nextRound(callback: () => void): void;
}

const processClock: StartClock = { now: () => performance.now(), nextRound: setImmediate };

/** Milliseconds of a round, of which the first call takes what it takes. */
export const roundMs = 4;

/**
 * Calls that arrive at one instant would all begin before any of them, or anybody else's, goes on. Those past
 * a round's time wait, one of each address in turn. As many wait as addresses may have calls open.
 */
export const createStartCalls = (clock: StartClock = processClock): StartCall => {
  const waiting = new Map<string, Array<() => void>>();
  let roundEndsAt = 0;
  let isRoundOpen = false;

  /** Addresses that had a turn go to the end. */
  const beginNext = () => {
    for (const [address, calls] of waiting) {
      const begin = calls.shift();
      waiting.delete(address);
      if (calls.length > 0) waiting.set(address, calls);
      begin?.();
      return;
    }
  };

  const openRound = () => {
    isRoundOpen = true;
    roundEndsAt = clock.now() + roundMs;
    clock.nextRound(closeRound);
  };

  const closeRound = () => {
    isRoundOpen = false;
    if (waiting.size === 0) return;
    openRound();
    while (waiting.size > 0 && clock.now() < roundEndsAt) beginNext();
  };

  return (address, begin) => {
    if (!isRoundOpen) openRound();
    if (waiting.size === 0 && clock.now() < roundEndsAt) return begin();
    const calls = waiting.get(address);
    if (calls) calls.push(begin);
    else waiting.set(address, [begin]);
  };
};
