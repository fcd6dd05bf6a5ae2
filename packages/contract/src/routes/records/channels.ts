import { z } from 'zod';
import { defineRoute, KIB } from '../../define-route.ts';
import { channelName } from '../../rules/channel-rules.ts';
import { recordUpTo, timestamp, uuid } from '../../schemas.ts';
import { base } from './schemas/record-schemas.ts';

/** Bytes as JSON of what is said, and of what somebody says of being there. */
export const maxMessageBytes = 8 * KIB;
export const maxPresenceBytes = KIB;
/** In one channel, as far as a process knows. */
export const maxChannelMembers = 200;

const data = z
  .unknown()
  .refine((value) => value !== undefined, 'is missing')
  .describe('JSON of at most 8 KB');

const maxPresenceFields = 100;

const presenceData = recordUpTo(maxPresenceFields, z.record(z.string(), z.unknown()))
  .nullable()
  .describe('What others see of the stream in the channel, at most 1 KB; null leaves it');

const channelMember = z
  .object({
    id: uuid.describe('Of one stream, as long as it is open'),
    userId: uuid.nullable().describe('Null for visitors, the owner and keys'),
    data: z.record(z.string(), z.unknown()),
    since: timestamp,
  })
  .meta({ id: 'ChannelMember' });

export const broadcastMessage = defineRoute({
  ...base,
  operationId: 'broadcastMessage',
  method: 'POST',
  path: '/events/broadcast',
  summary: 'Say something to whoever listens to a channel now; nothing is kept',
  limit: 'messages',
  bodyLimitBytes: 12 * KIB,
  body: z.object({ channel: channelName, data }),
  response: z.undefined(),
  status: 204,
  errors: ['invalid_body', 'unauthenticated', 'forbidden', 'overloaded'],
});

export const setPresence = defineRoute({
  ...base,
  operationId: 'setPresence',
  method: 'PUT',
  path: '/events/presence',
  summary: 'Say in a channel that the caller of a stream is there, something else, or no more',
  limit: 'messages',
  bodyLimitBytes: 4 * KIB,
  body: z.object({
    stream: uuid.describe('As the event `ready` of GET /events tells it'),
    channel: channelName,
    data: presenceData,
  }),
  response: z.undefined(),
  status: 204,
  errors: [
    'invalid_body',
    'unauthenticated',
    'forbidden',
    'not_found',
    'rate_limited',
    'overloaded',
  ],
});

export const listPresence = defineRoute({
  ...base,
  operationId: 'listPresence',
  method: 'GET',
  path: '/events/presence',
  summary: 'Who is there in a channel, as far as is known',
  limit: 'read',
  query: z.object({ channel: channelName }),
  response: z.object({ items: z.array(channelMember), hasMore: z.boolean() }),
  status: 200,
  errors: ['invalid_query', 'unauthenticated', 'forbidden'],
});
