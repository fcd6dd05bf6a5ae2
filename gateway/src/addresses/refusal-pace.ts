import { ApiError, type ErrorCode } from '@backlot/contract';
import { createPlaces } from '@backlot/http';
import { LRUCache } from 'lru-cache';
import { type AddressBounds, addressesInAll } from './address-bounds.ts';

/** Refusals that an address gets at once; those beyond come at the rate below (docs/decisions/0033). */
const atOnce = 10;
const everyMs = 100;
/** Below what the log calls slow. */
const maxDelayMs = 500;
const maxAddresses = 50_000;

export interface Clock {
  /** Milliseconds that only go forward. */
  now(): number;
  after(ms: number, callback: () => void): void;
}

export const processClock: Clock = {
  now: () => performance.now(),
  after: (ms, callback) => void setTimeout(callback, ms),
};

/** Calls `answer` when the next refusal of this address is due. */
export type PaceRefusal = (address: string, answer: () => void) => void;

/**
 * A client that calls again as soon as it was refused keeps a gateway busy with refusals alone: past a
 * burst those of an address come ten a second, but none more than half a second late. As many wait as half of
 * the calls that it may have open; the others don't.
 */
export const createPaceRefusal = (
  { openCalls }: Pick<AddressBounds, 'openCalls'>,
  { now, after }: Clock,
): PaceRefusal => {
  const perAddress = Math.ceil(openCalls / 2);
  const places = createPlaces({ total: perAddress * addressesInAll, perAddress });
  /** When each address's next refusal would be due without a burst (GCRA). */
  const due = new LRUCache<string, number>({ maxSize: maxAddresses, sizeCalculation: () => 1 });
  return (address, answer) => {
    const at = now();
    const dueAt = Math.max(at, due.get(address) ?? at);
    const delayMs = dueAt - at - (atOnce - 1) * everyMs;
    if (delayMs < maxDelayMs) due.set(address, dueAt + everyMs);
    if (delayMs <= 0 || places.take(address) !== 'taken') return answer();
    after(Math.min(delayMs, maxDelayMs), () => {
      places.leave(address);
      answer();
    });
  };
};

const pacedCodes: ReadonlySet<ErrorCode> = new Set([
  'rate_limited',
  'invalid_token',
  'unauthenticated',
  'project_not_found',
  'route_not_found',
  'method_not_allowed',
]);

/** It costs the gateway little, and nobody else anything. */
export const isPaced = (error: unknown): boolean =>
  error instanceof ApiError && pacedCodes.has(error.code);
