/** One limit to hold a call against. */
export interface RateCheck {
  key: string;
  /** Calls a window; 0 refuses every call. */
  limit: number;
  windowMs: number;
}

export interface RateState {
  limit: number;
  /** Calls that would pass right now. */
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
}

/**
 * Rate counters by GCRA: a burst of `limit`, refilled evenly over the window. A refused call uses
 * nothing up, and a call is counted by all its checks or by none.
 */
export interface Counters {
  admit(checks: readonly RateCheck[]): Promise<Admission>;
  close(): Promise<void>;
}
