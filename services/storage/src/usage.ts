import { type Payload, storageRoutes } from '@backlot/contract';
import type { Outbox } from '@backlot/database';
import type { Identity } from '@backlot/identity';

/** What an upload of this size costs; undefined where it is free. */
export const priceOf = (
  { reservation, project: { ownerId } }: Identity,
  sizeBytes: number,
): number | undefined =>
  reservation && ownerId !== null
    ? Math.min(storageRoutes.uploadMillicredits(sizeBytes), reservation.millicredits)
    : undefined;

export interface Usage {
  /** Stores, in the surrounding transaction, the event that the ledger books. */
  record(identity: Identity, sizeBytes: number): Promise<void>;
}

export const createUsage = (outbox: Outbox, now: () => number): Usage => ({
  async record(identity, sizeBytes) {
    const millicredits = priceOf(identity, sizeBytes);
    const { reservation, project } = identity;
    if (millicredits === undefined || !reservation || project.ownerId === null) return;
    const event: Payload<'usage.recorded'> = {
      callId: reservation.callId,
      projectId: project.id,
      projectNumber: project.number,
      ownerId: project.ownerId,
      route: storageRoutes.uploadFile.operationId,
      millicredits,
      units: { bytes: sizeBytes },
      occurredAt: new Date(now()).toISOString(),
    };
    await outbox.append('usage.recorded', event);
  },
});
