import { z } from 'zod';
import { type Caller, defineRoute } from '../define-route.ts';
import { idInPath, listQuery, timestamp, uuid } from '../schemas.ts';

/** docs/owners.md, "Live calls". */
export const keptCalls = 10_000;
export const keptCallDays = 3;
export const streamsOfCalls = 20;

const callerNames = ['visitor', 'user', 'owner', 'key', 'operator'] as const;
export type CallerName = (typeof callerNames)[number];

export const toCallerName = (caller: Caller): CallerName =>
  caller === 'anonymous' ? 'visitor' : caller;

/** As it is kept and shown; no value of a body or a query, no token and no full address is ever in it. */
export const loggedCall = z
  .object({
    at: timestamp.describe('When it came'),
    requestId: z.string(),
    method: z.string(),
    route: z.string().nullable().describe('As /docs lists it: /db/:collection/:id; null for none'),
    path: z
      .string()
      .describe('The route with the collection and ids of the call; what could be a secret is "…"'),
    status: z.int().describe('499: the caller left before the answer'),
    code: z.string().nullable().describe('Of a failure, as error, hint and fields'),
    error: z.string().nullable(),
    hint: z.string().nullable(),
    fields: z
      .array(z.string())
      .nullable()
      .describe('Names of the fields in the body, never their values; null where it was not read'),
    ms: z.int().min(0),
    millicredits: z.int().nullable().describe('Used; null where it is known later, from a stream'),
    requestBytes: z.int().nullable().describe('Of the body, as the caller said'),
    responseBytes: z.int().min(0),
    caller: z.enum(callerNames),
    userId: uuid.nullable(),
    keyId: z.string().nullable(),
    memberId: uuid
      .optional()
      .describe("The account of a member; absent from the owner's own calls"),
    address: z.string().describe('The network that it came from: 203.0.113.0/24, 2001:db8::/48'),
    client: z.string().nullable().describe('Host of the page that called, by Origin'),
    skipped: z.int().min(0).describe('Calls right before it that were too many to be kept'),
  })
  .meta({ id: 'LoggedCall' });
export type LoggedCall = z.infer<typeof loggedCall>;

const call = loggedCall.extend({ type: z.literal('call') });
const gap = z
  .object({
    type: z.literal('gap'),
    at: timestamp.describe('When it ended'),
    since: timestamp,
    calls: z.int().min(1).describe('That could not be kept'),
  })
  .describe('A time in which the log was out of reach: calls went on, and are missing here');

const item = z.union([call, gap]).meta({ id: 'CallLogItem' });
export type CallLogItem = z.infer<typeof item>;

const filter = {
  status: z
    .string()
    .regex(/^(failed|[1-5]xx|[1-5]\d\d)$/, 'must be failed, 4xx, 5xx or a status such as 404')
    .optional()
    .describe('failed (400 and above), 2xx, 4xx, 5xx or one status; leaves gaps in'),
  path: z.string().min(1).max(200).optional().describe('A part of the path or of the route'),
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).optional(),
  userId: uuid.optional(),
};

const base = {
  service: 'projects',
  plane: 'platform',
  callers: ['owner', 'key', 'operator'],
  method: 'GET',
  limit: 'read',
  status: 200,
  params: z.object({ projectId: idInPath }),
} as const;

export const listRequests = defineRoute({
  ...base,
  operationId: 'listRequests',
  path: '/projects/:projectId/requests',
  summary: `Calls of the project, newest first: the last ${keptCalls} of ${keptCallDays} days`,
  query: listQuery.extend({ ...filter, since: timestamp.optional() }),
  response: z
    .object({ items: z.array(item), cursor: z.string().nullable(), hasMore: z.boolean() })
    .meta({ id: 'CallLogPage' }),
  errors: ['invalid_query', 'invalid_cursor', 'not_found'],
});

export const streamRequests = defineRoute({
  ...base,
  operationId: 'streamRequests',
  path: '/projects/:projectId/requests/stream',
  summary: 'Server-sent events: calls of the project as they happen',
  answers: 'events',
  query: z.object({
    ...filter,
    lastEventId: z
      .string()
      .max(40)
      .optional()
      .describe('As the header Last-Event-ID: goes on behind this event'),
  }),
  response: z.looseObject({}),
  errors: ['invalid_query', 'not_found', 'rate_limited', 'overloaded'],
});

/** Its own reading is no line of the log. */
export const isOfCallLog = (operationId: string): boolean =>
  operationId === listRequests.operationId || operationId === streamRequests.operationId;
