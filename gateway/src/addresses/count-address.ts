import { ApiError, type LimitClass } from '@backlot/contract';
import { createRecentCounts } from '@backlot/counters';
import { type Caller, isUncounted } from '../directory/caller.ts';
import { type GatewayProject, windowMs } from '../directory/gateway-project.ts';
import type { AddressBounds } from './address-bounds.ts';
import type { CountRefusal } from './refusals.ts';

export interface AddressCount {
  /** Calls of this class and project that came from the address in about the last minute. */
  before: number;
  /** The call counts as so many. */
  weigh(calls: number): void;
  /** The call was refused after all. */
  giveBack(): void;
}

export type CountAddress = (
  project: GatewayProject,
  limitClass: LimitClass,
  caller: Caller,
  address: string,
) => AddressCount | undefined;

const maxCounts = 100_000;

/**
 * Counts a call for its address, above the caller's own limit, in this process's memory: many accounts
 * on one address are no more than so many callers. Keys in their own project
 * and the operator are not counted.
 * @throws ApiError rate_limited
 */
export const createCountAddress = (
  { callers }: AddressBounds,
  now: () => number,
  countRefusal: CountRefusal,
): CountAddress => {
  const counts = createRecentCounts({ windowMs, maxKeys: maxCounts, now });
  return (project, limitClass, caller, address) => {
    if (isUncounted(caller, project)) return undefined;
    const { callerKeyPrefix, callerLimit } = project.admission[limitClass];
    const key = `${callerKeyPrefix}${address}`;
    const { allowed, before, retryAfterMs } = counts.take(key, callerLimit * callers);
    if (!allowed) {
      countRefusal('calls');
      throw new ApiError(
        'rate_limited',
        'Too many calls from this network address. Wait before the next one.',
        { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) },
      );
    }
    let counted = 1;
    return {
      before,
      weigh(calls) {
        counts.add(key, calls - counted);
        counted = calls;
      },
      giveBack: () => counts.giveBack(key, counted),
    };
  };
};
