import {
  ApiError,
  affordableQuantity,
  costMillicredits,
  type Payload,
  type Tariff,
} from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { budgetUsedUp } from './visitor-budgets.ts';

/** Null where the call is free: nothing was reserved, or the project has no owner to charge. */
const findPayer = ({ reservation, project: { ownerId } }: Identity) =>
  reservation && ownerId !== null ? { ...reservation, ownerId } : null;

/**
 * What a call that used so much costs, never more than was reserved for it; undefined where it is free.
 */
export const chargeFor = (identity: Identity, price: Tariff, used: number): number | undefined => {
  const payer = findPayer(identity);
  if (!payer) return undefined;
  return Math.min(costMillicredits(price, used, payer.millicreditsPerUnit), payer.millicredits);
};

/** The most that the call may use on what was reserved for it; without a bound where it is free. */
export const coveredQuantity = (identity: Identity, price: Tariff): number => {
  const payer = findPayer(identity);
  if (!payer) return Number.POSITIVE_INFINITY;
  return affordableQuantity(price, payer.millicredits, payer.millicreditsPerUnit);
};

/** Of a call that what was reserved for it does not cover. @param nowMs epoch milliseconds */
export const notCovered = ({ reservation }: Identity, message: string, nowMs: number): ApiError => {
  if (reservation?.boundBy === 'visitors') return budgetUsedUp(nowMs);
  return reservation?.boundBy === 'project'
    ? new ApiError('project_budget', `${message} The project has used what its owner allows it.`, {
        hint: 'The owner can change its settings creditsPerDay and creditsPerMonth.',
      })
    : new ApiError('out_of_credits', message);
};

export interface UsageEvent {
  topic: 'usage.recorded';
  payload: Payload<'usage.recorded'>;
}

/** Who has called, for the owner who pays; the addresses of their own calls say nothing. */
const spender = ({ caller, userId, memberRole, keyId, ip }: Identity) => {
  switch (caller) {
    case 'anonymous':
      return { caller: 'visitor', address: ip };
    case 'user':
      return { caller: `user:${userId}`, address: ip };
    case 'key':
      return { caller: `key:${keyId}` };
    case 'owner':
      return { caller: memberRole ? `member:${userId}` : caller };
    case 'operator':
      return { caller };
  }
};

/** What the ledger books; undefined where the call is free. @param now epoch milliseconds */
export const usageEvent = (
  identity: Identity,
  price: Tariff,
  used: number,
  now: number,
): UsageEvent | undefined => {
  const payer = findPayer(identity);
  const millicredits = chargeFor(identity, price, used);
  if (!payer || millicredits === undefined) return undefined;
  return {
    topic: 'usage.recorded',
    payload: {
      callId: payer.callId,
      projectId: identity.project.id,
      projectNumber: identity.project.number,
      ownerId: payer.ownerId,
      route: price.operationId,
      millicredits,
      units: { [price.quantity]: used },
      ...spender(identity),
      occurredAt: new Date(now).toISOString(),
    },
  };
};

export type RecordUsage = (identity: Identity, used: number) => Promise<void>;

/** Stores, in the surrounding transaction, what the ledger books; nothing where the call is free. */
export const createRecordUsage =
  (
    outbox: { append(topic: UsageEvent['topic'], payload: UsageEvent['payload']): Promise<void> },
    price: Tariff,
    now: () => number,
  ): RecordUsage =>
  async (identity, used) => {
    const event = usageEvent(identity, price, used, now());
    if (event) await outbox.append(event.topic, event.payload);
  };
