import type { AuthConfig } from '../config.ts';

const phc =
  /^\$argon2id\$v=19\$((?:[mtp]=\d{1,7},?){3})\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/;

/** Its owner chose what a sign-in with it costs everybody. */
const mostTimes = 2;

/** Whether it costs no more than a few of those that this installation makes. */
export const isAcceptableHash = (
  hash: string,
  { memoryKib, passes, lanes }: AuthConfig['argon2'],
): boolean => {
  const [, costs] = phc.exec(hash) ?? [];
  if (costs === undefined) return false;
  const {
    m = 0,
    t = 0,
    p = 0,
  } = Object.fromEntries(costs.split(',').map((cost) => [cost[0], Number(cost.slice(2))]));
  const isAllowed = m >= 8 * p && t >= 1 && p >= 1 && p <= Math.max(lanes, 4);
  return isAllowed && m <= mostTimes * memoryKib && m * t <= mostTimes * memoryKib * passes;
};
