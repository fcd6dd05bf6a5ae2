export interface Burst {
  passed: number;
  /** Neither let through nor refused by the limit: nobody knows which of these it has counted. */
  unclear: number;
  /** How many a limit had to let through, and could at most: the times of calls are known from outside. */
  atLeast: number;
  atMost: number;
}

/**
 * Clients that call without pause, against a limit that refills evenly over a minute: for so long, and until
 * more were refused than the limit lets through in a minute. The first call and the last ones are made alone:
 * answered soon, they tell well for how long the limit has refilled, and a refusal that nothing is left of it.
 */
export const burst = async (
  clients: number,
  durationMs: number,
  limit: number,
  call: (client: number) => Promise<number>,
): Promise<Burst> => {
  let passed = 0;
  let unclear = 0;
  let refused = 0;
  const ask = async (client: number) => {
    const sentAt = performance.now();
    const status = await call(client);
    const isRefused = status === 429;
    if (isRefused) refused++;
    else if (status === 200) passed++;
    else unclear++;
    return { isRefused, sentAt, answeredAt: performance.now() };
  };
  const first = await ask(0);
  const end = first.sentAt + durationMs;
  // Until then nothing may have been refilled: after the first call the limit is full again soon.
  let drainedFrom = Number.POSITIVE_INFINITY;
  const client = async (n: number) => {
    while (performance.now() < end || refused <= limit) {
      const { answeredAt } = await ask(n);
      drainedFrom = Math.min(drainedFrom, answeredAt);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, n) => client(n)));
  let last = await ask(0);
  while (!last.isRefused) last = await ask(0);

  const refilled = (ms: number) => Math.max(0, Math.floor((ms * limit) / 60_000));
  return {
    passed,
    unclear,
    atLeast: limit + refilled(last.sentAt - drainedFrom),
    atMost: limit + refilled(last.answeredAt - first.sentAt),
  };
};
