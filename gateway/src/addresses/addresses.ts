import { ApiError } from '@backlot/contract';
import { createRecentCounts } from '@backlot/counters';
import type { Registry } from '@backlot/telemetry';
import type { AddressBounds } from './address-bounds.ts';
import { createBodies } from './bodies.ts';
import { type PaceBounds, usualPace } from './body-pace.ts';
import { createClientAddress } from './client-address.ts';
import { createCountAddress } from './count-address.ts';
import { createFailedLookups } from './failed-lookups.ts';
import { createAcceptConnection, createCountOpenCall } from './open-calls.ts';
import { type Clock, createPaceRefusal, processClock } from './refusal-pace.ts';
import { type CountRefusal, createCountRefusal } from './refusals.ts';

export interface AddressesOptions {
  addressBounds: AddressBounds;
  trustedProxies: number;
  /** Milliseconds, from any start. */
  now: () => number;
  pace: PaceBounds | undefined;
  refusalClock: Clock | undefined;
  registry: Registry | undefined;
}

const maxPageAddresses = 50_000;

/**
 * Counts a page for its address: no project and no caller has a limit for it.
 * @throws ApiError rate_limited
 */
const createCountPage = (
  { pages }: AddressBounds,
  now: () => number,
  countRefusal: CountRefusal,
): ((address: string) => void) => {
  const counts = createRecentCounts({ windowMs: 60_000, maxKeys: maxPageAddresses, now });
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

/** What a gateway knows of network addresses, all of it in its own memory. */
export const createAddresses = (options: AddressesOptions) => {
  const { addressBounds, trustedProxies, now, pace = usualPace } = options;
  const { refusalClock = processClock } = options;
  const readAddress = createClientAddress(trustedProxies);
  const countRefusal = createCountRefusal(options.registry);
  return {
    readAddress,
    countRefusal,
    acceptConnection: createAcceptConnection(addressBounds, trustedProxies, countRefusal),
    countOpenCall: createCountOpenCall(addressBounds, readAddress, countRefusal),
    failedLookups: createFailedLookups(addressBounds, now, countRefusal),
    countAddress: createCountAddress(addressBounds, now, countRefusal),
    countPage: createCountPage(addressBounds, now, countRefusal),
    bodies: createBodies(addressBounds, pace, countRefusal),
    paceRefusal: createPaceRefusal(addressBounds, refusalClock),
  };
};
