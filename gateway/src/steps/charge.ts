import { randomUUID } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import {
  creditMillicredits,
  type RouteDefinition,
  usageFollows,
  usageHeader,
} from '@backlot/contract';
import type { CreditCounters, ReservationRequest } from '@backlot/counters';
import type { KnownProject } from '../directory/known-project.ts';

/** What one priced call has reserved, until its answer says what it used. */
export interface Charge {
  callId: string;
  /** The service is held to this. */
  millicredits: number;
  /**
   * Nobody knows what the service did: the reservation stays until the ledger has booked the call, or
   * until its time is over.
   */
  leaveOpen(): void;
  /** The service did nothing. */
  cancel(): void;
}

/** What the call asks for; undefined where it is free. */
export const reservationFor = (
  req: IncomingMessage,
  { price }: RouteDefinition,
  { ownerId, identity }: KnownProject,
  body: unknown,
): ReservationRequest | undefined => {
  if (!price || ownerId === null) return undefined;
  const header = (name: string) => {
    const value = req.headers[name];
    return Array.isArray(value) ? value[0] : value;
  };
  const declared = header('content-length');
  const worstCase = price.worstCaseMillicredits({
    body,
    contentLength: declared === undefined ? undefined : Number(declared),
    header,
    settings: identity.settings,
  });
  return {
    ownerId,
    callId: randomUUID(),
    wantMillicredits: Math.max(worstCase, creditMillicredits),
    minMillicredits: creditMillicredits,
  };
};

/** Undefined where it is known, and booked, only at the end of the answer. */
const takeUsage = (
  res: ServerResponse,
  headers: OutgoingHttpHeaders | undefined,
): number | undefined => {
  const stated = headers?.[usageHeader] ?? res.getHeader(usageHeader);
  if (headers) delete headers[usageHeader];
  res.removeHeader(usageHeader);
  if (stated === usageFollows) return undefined;
  const used = Number(stated ?? 0);
  return Number.isSafeInteger(used) && used > 0 ? used : 0;
};

/** Settles the reservation with what the answer, whoever gives it, says was used. */
export const openCharge = (
  res: ServerResponse,
  counters: CreditCounters,
  { ownerId, callId }: ReservationRequest,
  millicredits: number,
): Charge => {
  let open = true;
  const settle = (used: number | undefined) => {
    if (open && used !== undefined)
      void counters.settle(ownerId, callId, Math.min(used, millicredits));
    open = false;
  };
  const writeHead = res.writeHead.bind(res);
  res.writeHead = (status: number, ...rest: unknown[]) => {
    const headers = rest.find((each) => typeof each === 'object') as
      | OutgoingHttpHeaders
      | undefined;
    settle(takeUsage(res, headers));
    return writeHead(status, ...(rest as [OutgoingHttpHeaders?]));
  };
  return {
    callId,
    millicredits,
    leaveOpen() {
      open = false;
    },
    cancel: () => settle(0),
  };
};
