/**
 * What some calls together may take of an owner's credits in a period (UTC). One of a `project` counts on
 * from what the ledger has booked; one of `visitors` begins at nothing.
 */
export interface Budget {
  of: 'project' | 'visitors';
  /** Names the counter within the owner; without spaces. */
  name: string;
  /** A day (`2026-11-27`) or a month (`2026-11`). */
  period: string;
  /** Millicredits, or a part of what the owner has for the month; that is one call at least. */
  limit: number | { partOfMonth: number };
}

/** A priced call asks for credits before it is served. */
export interface ReservationRequest {
  ownerId: string;
  /** Each has to leave as much as the call needs. */
  budgets?: readonly Budget[];
  /** Made by the gateway for this call alone; names the reservation and the ledger line. */
  callId: string;
  /** What the call may cost at most. */
  wantMillicredits: number;
  /** What it needs to be served at all. */
  minMillicredits: number;
}

export type ReservationOutcome =
  /** `boundBy`: the budget that leaves less than was wanted, where it leaves less than the owner has. */
  | { kind: 'reserved'; millicredits: number; boundBy?: Budget }
  /** The owner's free credits are below `minMillicredits`. */
  | { kind: 'insufficient' }
  /** So is what the budget leaves; the first of several. */
  | { kind: 'over_budget'; budget: Budget }
  /** The owner's balance, or what a project has used, is not here (yet): load it and try again. Nothing was counted. */
  | { kind: 'unloaded' }
  /** The shared counters do not answer. */
  | { kind: 'unavailable'; isRefused: boolean };

export interface HeldCredits {
  callId: string;
  millicredits: number;
}

/** What a project has used in a period, as booked. */
export interface ProjectUse {
  name: string;
  period: string;
  millicredits: number;
}

/** What the ledger tells beside a balance. */
export interface LedgerDetails {
  /** Used this month and still there: what a budget is a part of. The balance unless stated. */
  monthMillicredits?: number;
  /** Taken over by budgets that do not know it yet. */
  used?: readonly ProjectUse[];
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
  load(
    ownerId: string,
    balanceMillicredits: number,
    seq: number,
    details?: LedgerDetails,
  ): Promise<void>;
  /** Like `load`, after these calls were booked: they are held no longer. */
  book(
    ownerId: string,
    balanceMillicredits: number,
    seq: number,
    calls: readonly HeldCredits[],
    details?: LedgerDetails,
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
