export interface Burst {
  passed: number;
  refused: number;
  /** How many a limit had to let through, and could at most: the times of calls are known from outside. */
  atLeast: number;
  atMost: number;
}

interface Times {
  sentAt: number;
  answeredAt: number;
}

/**
 * Clients that call without pause, against a limit that refills evenly over a minute: for so long, and until
 * more were refused than the limit lets through in a minute.
 */
export const burst = async (
  clients: number,
  durationMs: number,
  limit: number,
  call: (client: number) => Promise<number>,
): Promise<Burst> => {
  const times: Times[] = [];
  let passed = 0;
  let refused = 0;
  const end = performance.now() + durationMs;
  const client = async (n: number) => {
    while (performance.now() < end || refused <= limit) {
      const sentAt = performance.now();
      const status = await call(n);
      times.push({ sentAt, answeredAt: performance.now() });
      if (status === 429) refused++;
      else passed++;
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, n) => client(n)));

  const of = (pick: (call: Times) => number, best: typeof Math.min) =>
    times.map(pick).reduce((a, b) => best(a, b));
  const refilled = (ms: number) => Math.max(0, Math.floor((ms * limit) / 60_000));
  const sent = (call: Times) => call.sentAt;
  const answered = (call: Times) => call.answeredAt;
  return {
    passed,
    refused,
    atLeast: limit + refilled(of(sent, Math.max) - of(answered, Math.min)),
    atMost: limit + refilled(of(answered, Math.max) - of(sent, Math.min)),
  };
};
