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

export interface Usage {
  /** Stores the event that the ledger books. The milli-credits used; undefined where it was free. */
  record(identity: Identity, tokens: number): Promise<number | undefined>;
}

export const createUsage = (outbox: Outbox, now: () => number): Usage => ({
  async record(identity, tokens) {
    const payer = payerOf(identity);
    if (!payer) return undefined;
    // A provider may count more than it was held to; the owner never pays more than was reserved.
    const millicredits = Math.min(aiRoutes.generationMillicredits(tokens), payer.millicredits);
    const event: Payload<'usage.recorded'> = {
      callId: payer.callId,
      projectId: identity.project.id,
      projectNumber: identity.project.number,
      ownerId: payer.ownerId,
      route: aiRoutes.generateText.operationId,
      millicredits,
      units: { tokens },
      occurredAt: new Date(now()).toISOString(),
    };
    await outbox.append('usage.recorded', event);
    return millicredits;
  },
});
