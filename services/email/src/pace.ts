export interface Pace {
  /** How many may go at this moment; whole and at least 0. */
  free(): number;
  take(count: number): void;
  /** Until one more may go. */
  waitMs(): number;
}

/** At most `perSecond` in any second, refilled evenly: a bucket of that size. */
export const createPace = (perSecond: number, now: () => number): Pace => {
  let level = perSecond;
  let filledAt = now();
  const fill = () => {
    const at = now();
    level = Math.min(perSecond, level + (Math.max(0, at - filledAt) * perSecond) / 1000);
    filledAt = at;
  };
  return {
    free() {
      fill();
      return Math.floor(level);
    },
    take(count) {
      level -= count;
    },
    waitMs() {
      fill();
      return level >= 1 ? 0 : Math.ceil(((1 - level) * 1000) / perSecond);
    },
  };
};
