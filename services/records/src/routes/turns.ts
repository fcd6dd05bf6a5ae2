import { type FairShares, toFlow } from '@backlot/fair-shares';
import type { RouteOptions } from '@backlot/http';

/** Each owner's writes wait for a connection behind each other, not before those of others. */
export const inTurn = (writes: FairShares): RouteOptions => ({
  inTurn: (caller, work) => writes.run(toFlow(caller.identity), work, caller),
});

export const inShortTurn = (writes: FairShares): RouteOptions => ({
  ...inTurn(writes),
  hasShortTurns: true,
});
