import { z } from 'zod';
import { defineRoute, KIB } from '../../define-route.ts';
import { timestamp } from '../../schemas.ts';
import { base } from './schemas/record-schemas.ts';

/** How long a ticket waits for its one use. */
export const eventTicketTtlMs = 60_000;
/** Characters; a token in it has some hundreds. */
export const maxEventTicketLength = 4096;

export const createEventTicket = defineRoute({
  ...base,
  answeredBy: 'gateway',
  callers: ['user', 'owner'],
  operationId: 'createEventTicket',
  memberRole: 'viewer',
  method: 'POST',
  path: '/events/ticket',
  summary: 'A ticket that opens GET /events once, within 60 seconds, for EventSource',
  limit: 'read',
  bodyLimitBytes: KIB,
  response: z.object({ ticket: z.string().max(maxEventTicketLength), expiresAt: timestamp }),
  status: 201,
  errors: [],
});
