import { ApiError } from '@backlot/contract';
import { createRecentCounts } from '@backlot/counters';
import type { AddressBounds } from './address-bounds.ts';
import type { CountRefusal } from './refusals.ts';

const maxAddresses = 50_000;

/**
 * Counts a page for its address: no project and no caller has a limit for it.
 * @throws ApiError rate_limited
 */
export const createCountPage = (
  { pages }: AddressBounds,
  now: () => number,
  countRefusal: CountRefusal,
): ((address: string) => void) => {
  const counts = createRecentCounts({ windowMs: 60_000, maxKeys: maxAddresses, now });
  return (address) => {
    const { allowed, retryAfterMs } = counts.take(address, pages);
    if (allowed) return;
    countRefusal('pages');
    throw new ApiError(
      'rate_limited',
      'Too many pages for this network address. Wait before the next one.',
      { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) },
    );
  };
};
