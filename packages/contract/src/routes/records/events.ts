import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { maxEventTicketLength } from './event-tickets.ts';
import { base } from './schemas/record-schemas.ts';

/** docs/api.md, "Events". */
export const maxWatchedCollections = 20;

export const openEvents = defineRoute({
  ...base,
  operationId: 'openEvents',
  method: 'GET',
  path: '/events',
  summary: 'Server-sent events: changes of records, and what is said in channels, as it happens',
  limit: 'read',
  answers: 'events',
  query: z.looseObject({
    collections: z
      .string()
      .max(1400)
      .optional()
      .describe(
        'Up to 20 names, with commas between; of each where.<name>, mine.<name> and group.<name>, as lists have them',
      ),
    channels: z
      .string()
      .max(2100)
      .optional()
      .describe(
        'Names of channels, with commas between, up to 20 together with the collections; presence.<name>={…} says that the caller is there',
      ),
    lastEventId: z
      .string()
      .max(1024)
      .optional()
      .describe('As the header Last-Event-ID: goes on behind this event'),
    ticket: z
      .string()
      .max(maxEventTicketLength)
      .optional()
      .describe('In place of a token, for EventSource: POST /events/ticket'),
  }),
  response: z.looseObject({}),
  status: 200,
  errors: [
    'invalid_query',
    'invalid_where',
    'invalid_cursor',
    'conflict',
    'rate_limited',
    'overloaded',
  ],
});
