import { ApiError, creditMillicredits, emailRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { Event } from './mail.ts';

export interface Usage {
  millicredits: number;
  event: Event;
}

/**
 * What the call costs; undefined where nothing was reserved or the project has no owner to charge.
 * @throws ApiError out_of_credits where less was reserved
 */
export const usageOf = (identity: Identity, recipients: number, now: number): Usage | undefined => {
  const { reservation, project } = identity;
  if (!reservation || project.ownerId === null) return undefined;
  const millicredits = recipients * creditMillicredits;
  if (millicredits > reservation.millicredits)
    throw new ApiError(
      'out_of_credits',
      `The credits left do not cover a mail to ${recipients} recipients.`,
    );
  return {
    millicredits,
    event: {
      topic: 'usage.recorded',
      payload: {
        callId: reservation.callId,
        projectId: project.id,
        projectNumber: project.number,
        ownerId: project.ownerId,
        route: emailRoutes.sendEmail.operationId,
        millicredits,
        units: { recipients },
        occurredAt: new Date(now).toISOString(),
      },
    },
  };
};
