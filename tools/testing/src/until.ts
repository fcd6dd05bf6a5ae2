import { setTimeout as sleep } from 'node:timers/promises';

export interface UntilOptions {
  /** 20,000 without it. */
  timeoutMs?: number;
  /** Named in the error. */
  what?: string;
}

/**
 * Asks again every 10 ms until the answer is neither undefined, null nor false, and returns it. A
 * check that throws is asked again too. Throws at the timeout, with the last error as the cause.
 */
export async function until<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 20_000, what = 'the condition' }: UntilOptions = {},
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = performance.now() + timeoutMs;
  let cause: unknown;
  do {
    try {
      const answer = await check();
      if (isPresent(answer)) return answer;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await sleep(10);
  } while (performance.now() < deadline);
  throw new Error(`${what} was not met within ${timeoutMs} ms`, { cause });
}

function isPresent<T>(answer: T): answer is Exclude<T, undefined | null | false> {
  return answer !== undefined && answer !== null && answer !== false;
}
