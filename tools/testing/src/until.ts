import { setTimeout as sleep } from 'node:timers/promises';

export interface UntilOptions {
  /** 60,000 without it: what takes a second here may take twenty where two cores do much else. */
  timeoutMs?: number;
  /** Named in the error, as it is at the end. */
  what?: string | (() => string);
}

/**
 * Asks again every 10 ms until the answer is neither undefined, null nor false, and returns it. A
 * check that throws is asked again too. Throws at the timeout, with the last error as the cause; the last
 * check begins after it, however long this process stood still.
 */
export async function until<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 60_000, what = 'the condition' }: UntilOptions = {},
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const isLast = performance.now() >= deadline;
    let cause: unknown;
    try {
      const answer = await check();
      if (isPresent(answer)) return answer;
    } catch (error) {
      cause = error;
    }
    if (isLast) {
      const named = typeof what === 'string' ? what : what();
      throw new Error(`${named} was not met within ${timeoutMs} ms`, { cause });
    }
    await sleep(10);
  }
}

function isPresent<T>(answer: T): answer is Exclude<T, undefined | null | false> {
  return answer !== undefined && answer !== null && answer !== false;
}
