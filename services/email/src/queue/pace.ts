export interface Pace {
  /** How many mails may be sent right now. */
  free(): number;
  take(count: number): void;
  /** Time until one more may be sent. */
  waitMs(): number;
}

/** A token bucket of the size `perSecond` that is refilled evenly. */
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
