import { LRUCache } from 'lru-cache';
import {
  type CreditCounters,
  type LedgerDetails,
  type ReservationOutcome,
  type ReservationRequest,
  reservationTtlMs,
  settledTtlMs,
} from './credits.ts';
import { createTakenBudgets, type Place, type TakenBudgets } from './memory-budgets.ts';

interface Held {
  millicredits: number;
  until: number;
  /** Where budgets count it; until it is settled. */
  places: readonly Place[];
}

interface OwnerCredits {
  balance: number;
  month: number;
  seq: number;
  heldSum: number;
  /** When expired amounts were last looked for. */
  sweptAt: number;
  /** By callId; insertion order is age. */
  held: Map<string, Held>;
  budgets: TakenBudgets;
}

export interface MemoryCredits extends CreditCounters {
  reserve(request: ReservationRequest): ReservationOutcome;
}

const maxOwners = 100_000;
const maxListed = 1000;
const sweepMs = 1000;

/** Holds the call no longer. Its budgets count what it used. */
const drop = (owner: OwnerCredits, callId: string, used: number) => {
  const held = owner.held.get(callId);
  if (!held) return;
  owner.held.delete(callId);
  owner.heldSum -= held.millicredits;
  owner.budgets.adjust(held.places, used - held.millicredits);
};

const hold = (owner: OwnerCredits, callId: string, held: Held) => {
  owner.held.set(callId, held);
  owner.heldSum += held.millicredits;
};

const findOutcome = (
  owner: OwnerCredits | undefined,
  request: ReservationRequest,
): ReservationOutcome => {
  const budgets = owner?.budgets.left(request, owner.month);
  if (!owner || !budgets) return { kind: 'unloaded' };
  const { minMillicredits: least, wantMillicredits } = request;
  const exceeded = budgets.find(({ left }) => left < least);
  if (exceeded) return { kind: 'over_budget', budget: exceeded.budget };
  const free = owner.balance - owner.heldSum;
  if (free < least) return { kind: 'insufficient' };
  const atMost = Math.min(free, wantMillicredits);
  const millicredits = Math.min(atMost, ...budgets.map(({ left }) => left));
  const tightest = budgets.find(({ left }) => left === millicredits && left < atMost);
  return { kind: 'reserved', millicredits, ...(tightest && { boundBy: tightest.budget }) };
};

export const createMemoryCredits = (now: () => number): MemoryCredits => {
  const owners = new LRUCache<string, OwnerCredits>({
    maxSize: maxOwners,
    sizeCalculation: () => 1,
  });

  const current = (ownerId: string): OwnerCredits | undefined => {
    const owner = owners.get(ownerId);
    if (!owner) return undefined;
    if (now() - owner.sweptAt >= sweepMs) {
      owner.sweptAt = now();
      for (const [callId, { until }] of owner.held) if (until <= now()) drop(owner, callId, 0);
    }
    return owner;
  };
  const load = (
    ownerId: string,
    balance: number,
    seq: number,
    { monthMillicredits: month = balance, used = [] }: LedgerDetails = {},
  ): OwnerCredits => {
    const known = current(ownerId);
    const owner = known ?? {
      balance,
      month,
      seq,
      heldSum: 0,
      sweptAt: now(),
      held: new Map(),
      budgets: createTakenBudgets(),
    };
    if (!known) owners.set(ownerId, owner);
    else if (seq > known.seq) Object.assign(known, { balance, month, seq });
    owner.budgets.load(used);
    return owner;
  };

  return {
    reserve(request) {
      const owner = current(request.ownerId);
      const result = findOutcome(owner, request);
      if (owner && result.kind === 'reserved') {
        const { millicredits } = result;
        const places = owner.budgets.places(request);
        hold(owner, request.callId, { millicredits, until: now() + reservationTtlMs, places });
        owner.budgets.adjust(places, millicredits);
      }
      return result;
    },
    async settle(ownerId, callId, usedMillicredits) {
      const owner = current(ownerId);
      if (!owner?.held.has(callId)) return;
      drop(owner, callId, usedMillicredits);
      if (usedMillicredits === 0) return;
      const until = now() + settledTtlMs;
      hold(owner, callId, { millicredits: usedMillicredits, until, places: [] });
    },
    async load(...ledger) {
      load(...ledger);
    },
    async book(ownerId, balance, seq, calls, details) {
      const owner = load(ownerId, balance, seq, details);
      for (const { callId, millicredits } of calls) drop(owner, callId, millicredits);
    },
    async reserved(ownerId) {
      return current(ownerId)?.heldSum ?? 0;
    },
    async held(ownerId) {
      const entries = [...(current(ownerId)?.held ?? [])].slice(0, maxListed);
      return entries.map(([callId, { millicredits }]) => ({ callId, millicredits }));
    },
  };
};
