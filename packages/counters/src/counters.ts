import type { CreditCounters, ReservationOutcome, ReservationRequest } from './credits/credits.ts';

/** One limit to hold a call against. */
export interface RateCheck {
  key: string;
  /** Calls a window; 0 refuses every call. */
  limit: number;
  windowMs: number;
  /** The call passes only where so many more would: they are kept for others. Default 0. */
  keepFree?: number;
  /**
   * What the call weighs. Default 1. One that is heavier than all that the limit leaves it passes where
   * everything else is free.
   */
  calls?: number;
}

export interface RateState {
  limit: number;
  /** Calls that would pass right now, without those that are kept free. */
  remaining: number;
  /** Until the full limit is free again. */
  resetMs: number;
}

export interface Admission {
  allowed: boolean;
  /** 0 when allowed; else how long until all checks would pass. */
  retryAfterMs: number;
  /** One per check, in order. */
  states: RateState[];
  /** Outcome of the reservation, where one was requested and the limits allowed the call. */
  reservation?: ReservationOutcome;
}

/** Shared counters do not answer. The cause says why. */
export class CountersUnavailable extends Error {
  override name = 'CountersUnavailable';
  /** They refuse the user of this process or the password. */
  readonly isRefused: boolean;

  constructor(message: string, options: { cause?: unknown; isRefused?: boolean } = {}) {
    super(message, options);
    this.isRefused = options.isRefused ?? false;
  }
}

/**
 * Rate counters by GCRA: a burst of `limit`, refilled evenly over the window. A refused call uses
 * nothing up, and a call is counted by all its checks or by none. A call with a reservation is counted
 * and reserves at once; while its owner is unloaded it does neither.
 */
export interface Counters extends CreditCounters {
  admit(checks: readonly RateCheck[], reservation?: ReservationRequest): Promise<Admission>;
  /**
   * The refusal that a call with these checks is certain to meet; undefined where `admit` has to be asked.
   * Counts nothing and waits for nobody.
   */
  knownRefusal(checks: readonly RateCheck[]): Admission | undefined;
  close(): Promise<void>;
}
