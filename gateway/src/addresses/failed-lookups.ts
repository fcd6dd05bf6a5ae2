import { ApiError } from '@backlot/contract';
import { createRecentCounts } from '@backlot/counters';
import type { AddressBounds } from './address-bounds.ts';
import type { CountRefusal } from './refusals.ts';

/** Bounds, for each address, look-ups that find nothing; whatever is cached costs none. */
export interface FailedLookups {
  /**
   * A look-up that answers null, or that the credential is not valid, has failed; one under way counts
   * as failed until it is known.
   * @throws ApiError rate_limited
   */
  run<T>(address: string, lookUp: () => Promise<T>): Promise<T>;
}

const maxAddresses = 50_000;

const isInvalid = (error: unknown) => error instanceof ApiError && error.code === 'invalid_token';

/** @param now milliseconds, from any start */
export const createFailedLookups = (
  { failedLookups }: AddressBounds,
  now: () => number,
  countRefusal: CountRefusal,
): FailedLookups => {
  const counts = createRecentCounts({ windowMs: 60_000, maxKeys: maxAddresses, now });
  return {
    async run(address, lookUp) {
      const { allowed, retryAfterMs } = counts.take(address, failedLookups);
      if (!allowed) {
        countRefusal('lookups');
        throw new ApiError(
          'rate_limited',
          'Too many unknown projects or wrong credentials from this network address. Wait before the next one.',
          { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) },
        );
      }
      let hasFailed = false;
      try {
        const found = await lookUp();
        hasFailed = found === null;
        return found;
      } catch (error) {
        hasFailed = isInvalid(error);
        throw error;
      } finally {
        if (!hasFailed) counts.giveBack(address, 1);
      }
    },
  };
};
