import { aiRoutes, type Payload } from '@backlot/contract';
import type { Outbox } from '@backlot/database';
import type { Identity, Reservation } from '@backlot/identity';

/** Whose credits pay for a call, and how many there are for it. */
export interface Payer extends Reservation {
  ownerId: string;
}

/** Null where the call is free: nothing was reserved, or the project has no owner to charge. */
export const payerOf = ({ reservation, project: { ownerId } }: Identity): Payer | null =>
  reservation && ownerId !== null ? { ...reservation, ownerId } : null;

/** No tokens, no price. */
export const millicreditsFor = (tokens: number): number =>
  tokens === 0 ? 0 : aiRoutes.generationMillicredits(tokens);

export interface Usage {
  /** Stores the event that the ledger books; nothing where the call is free. */
  record(identity: Identity, tokens: number): Promise<void>;
}

/** A provider may count more than it was held to; the owner never pays more than was reserved. */
export const chargeFor = (payer: Payer, tokens: number): number =>
  Math.min(millicreditsFor(tokens), payer.millicredits);

export const createUsage = (outbox: Outbox, now: () => number): Usage => ({
  async record(identity, tokens) {
    const payer = payerOf(identity);
    if (!payer) return;
    const event: Payload<'usage.recorded'> = {
      callId: payer.callId,
      projectId: identity.project.id,
      projectNumber: identity.project.number,
      ownerId: payer.ownerId,
      route: aiRoutes.generateText.operationId,
      millicredits: chargeFor(payer, tokens),
      units: { tokens },
      occurredAt: new Date(now()).toISOString(),
    };
    await outbox.append('usage.recorded', event);
  },
});
