import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  costBounds,
  type PriceChanges,
  priceInForce,
  type RouteDefinition,
  usageFollows,
  usageHeader,
} from '@backlot/contract';
import type { Budget, CreditCounters, ReservationRequest } from '@backlot/counters';
import onHeaders from 'on-headers';
import { type BudgetedCall, budgetsFor } from './budgets.ts';

/** What one priced call has reserved, until its answer says what it used. */
export interface Charge {
  callId: string;
  /** The service is held to this. */
  millicredits: number;
  millicreditsPerUnit: number;
  /** Whose budget leaves less than the call wanted; undefined where it is the owner's credits. */
  boundBy: Budget['of'] | undefined;
  /** The outcome is unknown: the reservation stays until the ledger has booked the call, or it expires. */
  leaveOpen(): void;
  /** The service did nothing. */
  cancel(): void;
  /** Milli-credits; undefined where it is not known yet. */
  used(): number | undefined;
}

export interface PricedCall extends ReservationRequest {
  millicreditsPerUnit: number;
}

export interface AskedFor extends BudgetedCall {
  definition: RouteDefinition;
  /** Parsed JSON that nobody has validated yet. */
  body: unknown;
  priceChanges: PriceChanges;
  /** Epoch milliseconds. */
  now: number;
}

/** What the call asks for; undefined where it is free. */
export const reservationFor = (
  req: IncomingMessage,
  { definition: { price }, body, priceChanges, now, ...call }: AskedFor,
): PricedCall | undefined => {
  const { ownerId, identity } = call.project;
  if (!price || ownerId === null) return undefined;
  const millicreditsPerUnit = priceInForce(price, priceChanges);
  if (millicreditsPerUnit === 0) return undefined;
  const header = (name: string) => {
    const value = req.headers[name];
    return Array.isArray(value) ? value[0] : value;
  };
  const declared = header('content-length');
  const request = {
    body,
    contentLength: declared === undefined ? undefined : Number(declared),
    header,
    settings: identity.settings,
  };
  if (price.appliesTo?.(request) === false) return undefined;
  const { minMillicredits, maxMillicredits } = costBounds(price, request, millicreditsPerUnit);
  return {
    ownerId,
    callId: randomUUID(),
    wantMillicredits: maxMillicredits,
    minMillicredits,
    millicreditsPerUnit,
    budgets: budgetsFor(call, millicreditsPerUnit, now),
  };
};

export interface ReservedCredits {
  millicredits: number;
  boundBy: Budget['of'] | undefined;
}

/** What the call needs to be served at all. */
export const limitToMinimum = (call: PricedCall | undefined): PricedCall | undefined =>
  call && { ...call, wantMillicredits: call.minMillicredits };

/** Undefined where it is known, and booked, only at the end of the answer. */
const takeUsage = (res: ServerResponse): number | undefined => {
  const header = res.getHeader(usageHeader);
  res.removeHeader(usageHeader);
  if (header === usageFollows) return undefined;
  const used = Number(header ?? 0);
  return Number.isSafeInteger(used) && used > 0 ? used : 0;
};

/** Settles the reservation with the usage that the answer states. */
export const openCharge = (
  res: ServerResponse,
  counters: CreditCounters,
  { ownerId, callId, millicreditsPerUnit }: PricedCall,
  { millicredits, boundBy }: ReservedCredits,
): Charge => {
  let open = true;
  let known: number | undefined;
  const settle = (used: number | undefined) => {
    if (open && used !== undefined) {
      known = Math.min(used, millicredits);
      void counters.settle(ownerId, callId, known);
    }
    open = false;
  };
  onHeaders(res, () => settle(takeUsage(res)));
  return {
    callId,
    millicredits,
    millicreditsPerUnit,
    boundBy,
    leaveOpen() {
      open = false;
    },
    cancel: () => settle(0),
    used: () => known,
  };
};
