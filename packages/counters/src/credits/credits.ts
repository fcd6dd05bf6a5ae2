/** A priced call asks for credits before it is served. */
export interface ReservationRequest {
  ownerId: string;
  /** Made by the gateway for this call alone; names the reservation and the ledger line. */
  callId: string;
  /** What the call may cost at most. */
  wantMillicredits: number;
  /** What it needs to be served at all. */
  minMillicredits: number;
}

export type ReservationOutcome =
  | { kind: 'reserved'; millicredits: number }
  /** The owner's free credits are below `minMillicredits`. */
  | { kind: 'insufficient' }
  /** The owner's balance is not here (yet): load it and try again. Nothing was counted. */
  | { kind: 'unloaded' }
  /** The shared counters do not answer. */
  | { kind: 'unavailable' };

export interface HeldCredits {
  callId: string;
  millicredits: number;
}

/**
 * The working copy of owners' balances, beside the rate counters so that both are one round trip. The
 * ledger is the truth. Free credits are the ledger's balance less what is held: reservations of calls
 * under way, and what settled calls have used until the ledger has booked it.
 */
export interface CreditCounters {
  /** A call's reservation becomes what it used; 0 gives all of it back. Unknown ids are left alone. */
  settle(ownerId: string, callId: string, usedMillicredits: number): Promise<void>;
  /** The ledger's balance, unless a newer one (by `seq`) is here already. */
  load(ownerId: string, balanceMillicredits: number, seq: number): Promise<void>;
  /** Like `load`, after these calls were booked: they are held no longer. */
  book(
    ownerId: string,
    balanceMillicredits: number,
    seq: number,
    callIds: readonly string[],
  ): Promise<void>;
  /** Millicredits held for calls under way or not booked yet. */
  reserved(ownerId: string): Promise<number>;
  /** At most 1,000 of an owner's held amounts, those first that are held for the shortest. */
  held(ownerId: string): Promise<HeldCredits[]>;
}

/** A gateway that was lost never settles; past this its reservations are free again. */
export const reservationTtlMs = 360_000;
/** Longer than a broker may be away before its usage events are booked. */
export const settledTtlMs = 24 * 3_600_000;
