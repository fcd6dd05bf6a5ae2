import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, listOf, listQuery, ok, timestamp, uuid } from '../../schemas.ts';
import { serviceNames } from '../../services.ts';

const base = { service: 'projects', plane: 'platform', callers: ['operator'] } as const;

const service = z.enum(serviceNames as [string, ...string[]]);
const oneEvent = z.object({ service, parkedId: idInPath });

const parkedEvent = z
  .object({
    id: uuid,
    service: service.describe('Which could not handle it, and keeps it'),
    queue: z.string(),
    topic: z.string().nullable().describe('Null where the message is no event'),
    eventId: z.string().nullable(),
    projectId: z.string().nullable(),
    error: z.string().describe('Of the last delivery, without what looks like a secret'),
    parkedAt: timestamp,
  })
  .meta({ id: 'ParkedEvent' });

export const listParkedEvents = defineRoute({
  ...base,
  operationId: 'listParkedEvents',
  method: 'GET',
  path: '/parked-events',
  summary: 'Events that no delivery succeeded for, of all services, newest first',
  limit: 'read',
  query: z.object({ ...listQuery.shape, service: service.optional() }),
  response: listOf(parkedEvent).extend({
    missing: z.array(z.string()).describe('Services that did not answer: theirs are not listed'),
  }),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor'],
});

export const getParkedEvent = defineRoute({
  ...base,
  operationId: 'getParkedEvent',
  method: 'GET',
  path: '/parked-events/:service/:parkedId',
  summary: 'A parked event with what it says, without tokens, codes, hashes and addresses',
  limit: 'read',
  params: oneEvent,
  response: parkedEvent.extend({ payload: z.unknown() }),
  status: 200,
  errors: ['not_found', 'unavailable'],
});

export const replayParkedEvent = defineRoute({
  ...base,
  operationId: 'replayParkedEvent',
  operatorScope: 'support',
  method: 'POST',
  path: '/parked-events/:service/:parkedId/replay',
  summary: 'Hand a parked event to its service once more; if it fails again it is parked again',
  limit: 'write',
  params: oneEvent,
  response: ok,
  status: 200,
  errors: ['not_found', 'conflict', 'unavailable'],
});

export const dropParkedEvent = defineRoute({
  ...base,
  operationId: 'dropParkedEvent',
  method: 'DELETE',
  path: '/parked-events/:service/:parkedId',
  summary: 'Give a parked event up for good',
  limit: 'write',
  params: oneEvent,
  response: ok,
  status: 200,
  errors: ['not_found', 'unavailable'],
});
