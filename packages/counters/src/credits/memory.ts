import { LRUCache } from 'lru-cache';
import {
  type CreditCounters,
  type ReservationOutcome,
  type ReservationRequest,
  reservationTtlMs,
  settledTtlMs,
} from './credits.ts';

interface Held {
  millicredits: number;
  until: number;
}

interface OwnerCredits {
  balance: number;
  seq: number;
  heldSum: number;
  /** When expired amounts were last looked for. */
  sweptAt: number;
  /** By callId; insertion order is age. */
  held: Map<string, Held>;
}

export interface MemoryCredits extends CreditCounters {
  reserve(request: ReservationRequest): ReservationOutcome;
}

const maxOwners = 100_000;
const maxListed = 1000;
const sweepMs = 1000;

export const createMemoryCredits = (now: () => number): MemoryCredits => {
  const owners = new LRUCache<string, OwnerCredits>({ max: maxOwners });

  const drop = (owner: OwnerCredits, callId: string) => {
    owner.heldSum -= owner.held.get(callId)?.millicredits ?? 0;
    owner.held.delete(callId);
  };
  const current = (ownerId: string): OwnerCredits | undefined => {
    const owner = owners.get(ownerId);
    if (!owner) return undefined;
    if (now() - owner.sweptAt >= sweepMs) {
      owner.sweptAt = now();
      for (const [callId, { until }] of owner.held) if (until <= now()) drop(owner, callId);
    }
    return owner;
  };
  const outcome = (
    owner: OwnerCredits | undefined,
    request: ReservationRequest,
  ): ReservationOutcome => {
    if (!owner) return { kind: 'unloaded' };
    const free = owner.balance - owner.heldSum;
    if (free < request.minMillicredits) return { kind: 'insufficient' };
    return { kind: 'reserved', millicredits: Math.min(free, request.wantMillicredits) };
  };
  const load = (ownerId: string, balance: number, seq: number) => {
    const owner = current(ownerId);
    if (!owner) owners.set(ownerId, { balance, seq, heldSum: 0, sweptAt: now(), held: new Map() });
    else if (seq > owner.seq) Object.assign(owner, { balance, seq });
  };

  return {
    reserve(request) {
      const owner = current(request.ownerId);
      const result = outcome(owner, request);
      if (owner && result.kind === 'reserved') {
        owner.held.set(request.callId, {
          millicredits: result.millicredits,
          until: now() + reservationTtlMs,
        });
        owner.heldSum += result.millicredits;
      }
      return result;
    },
    async settle(ownerId, callId, usedMillicredits) {
      const owner = current(ownerId);
      if (!owner?.held.has(callId)) return;
      drop(owner, callId);
      if (usedMillicredits === 0) return;
      owner.held.set(callId, { millicredits: usedMillicredits, until: now() + settledTtlMs });
      owner.heldSum += usedMillicredits;
    },
    async load(ownerId, balance, seq) {
      load(ownerId, balance, seq);
    },
    async book(ownerId, balance, seq, callIds) {
      load(ownerId, balance, seq);
      const owner = owners.get(ownerId);
      if (owner) for (const callId of callIds) drop(owner, callId);
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
