import { z } from 'zod';
import { defineRoute } from '../define-route.ts';
import { appEventTypes, recordEventTypes } from '../events/app-events.ts';
import { idInPath, jsonObject, listOf, listQuery, ok, timestamp, uuid } from '../schemas.ts';
import { collectionName } from './records/schemas/record-schemas.ts';

/** docs/owners.md, "Webhooks". */
export const maxWebhooks = 10;
export const maxTries = 8;
const maxTypes = 50;
const maxUrlLetters = 2000;
const maxWhereBytes = 8192;

export const webhookName = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_-]{0,62}$/,
    'must be 1-63 of A-Z, a-z, 0-9, _ and -, starting with a letter',
  );

const types: readonly string[] = appEventTypes;
const ofRecords: readonly string[] = recordEventTypes;

const isType = (value: string): boolean => {
  const [type = '', collection, ...rest] = value.split(':');
  if (collection === undefined) return types.includes(type);
  return (
    rest.length === 0 && ofRecords.includes(type) && collectionName.safeParse(collection).success
  );
};

const wantedType = z.string().refine(isType, {
  error: `must be one of ${types.join(', ')}; of records also with a collection: record.created:orders`,
});

const address = z
  .url({ protocol: /^https?$/, error: 'must be an address that begins with https://' })
  .max(maxUrlLetters)
  .refine((value) => {
    const url = URL.parse(value);
    return url !== null && url.username === '' && url.password === '' && url.hash === '';
  }, 'must have no name, password or fragment');

const isOfRecords = (type: string) => type.startsWith('record.');

const wanted = z
  .strictObject({
    url: address.describe('https, at a public address'),
    on: z
      .array(wantedType)
      .min(1)
      .max(maxTypes)
      .describe('What is told: "payment.paid", "record.created", "record.created:orders" …'),
    where: jsonObject(maxWhereBytes)
      .optional()
      .describe(
        'Of records alone: only those that match, as in a list; a deleted one as it was last',
      ),
  })
  .refine(({ on, where }) => where === undefined || on.every(isOfRecords), {
    path: ['where'],
    error: 'goes with events of records alone: give the others a webhook of their own',
  });

const webhook = z
  .object({
    name: z.string(),
    url: z.string(),
    on: z.array(z.string()),
    where: z.record(z.string(), z.unknown()).nullable(),
    state: z.enum(['on', 'off']).describe('off: nothing is told until it is set again'),
    offReason: z.string().nullable(),
    waiting: z.int().describe('Events that are yet to be told'),
    parkedAt: timestamp
      .nullable()
      .describe(
        'When an event was last given up while others were taken: deliveries?status=failed',
      ),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof webhook>;

const secret = z.string().describe('Signs what is sent, by Standard Webhooks; shown this once');

const attempt = z.object({
  at: timestamp,
  status: z.int().nullable().describe('Of the answer; null where there was none'),
  ms: z.int(),
  error: z.string().nullable(),
});
export type DeliveryAttempt = z.infer<typeof attempt>;

const delivery = z
  .object({
    id: uuid.describe('The header webhook-id: the same at each try and replay'),
    type: z.string(),
    status: z.enum(['waiting', 'delivered', 'failed']),
    tries: z.array(attempt).max(maxTries),
    nextTryAt: timestamp.nullable(),
    occurredAt: timestamp,
    createdAt: timestamp,
  })
  .meta({ id: 'WebhookDelivery' });
export type WebhookDelivery = z.infer<typeof delivery>;

const base = { service: 'projects', plane: 'platform', callers: ['owner', 'operator'] } as const;
const path = '/projects/:projectId/webhooks';
const oneProject = z.object({ projectId: idInPath });
const oneWebhook = oneProject.extend({ name: idInPath });

export const setWebhook = defineRoute({
  ...base,
  operationId: 'setWebhook',
  method: 'PUT',
  path: `${path}/:name`,
  summary: 'Have what happens in the app sent to an address; switches on again what is off',
  limit: 'write',
  params: oneProject.extend({ name: webhookName }),
  body: wanted,
  response: webhook.extend({ secret: secret.optional() }),
  status: 200,
  otherStatus: { status: 201, when: 'the webhook is new: its secret is shown' },
  errors: ['invalid_path', 'invalid_body', 'invalid_where', 'webhook_limit', 'not_found'],
});

export const listWebhooks = defineRoute({
  ...base,
  operationId: 'listWebhooks',
  memberRole: 'admin',
  method: 'GET',
  path,
  summary: `All webhooks of the project by name; there are at most ${maxWebhooks}`,
  limit: 'read',
  params: oneProject,
  response: listOf(webhook),
  status: 200,
  errors: ['not_found'],
});

export const getWebhook = defineRoute({
  ...base,
  operationId: 'getWebhook',
  memberRole: 'admin',
  method: 'GET',
  path: `${path}/:name`,
  summary: 'A webhook, without its secret',
  limit: 'read',
  params: oneWebhook,
  response: webhook,
  status: 200,
  errors: ['not_found'],
});

export const deleteWebhook = defineRoute({
  ...base,
  operationId: 'deleteWebhook',
  method: 'DELETE',
  path: `${path}/:name`,
  summary: 'Delete a webhook with its log and with what waits',
  limit: 'write',
  params: oneWebhook,
  response: ok,
  status: 200,
  errors: ['not_found'],
});

export const renewWebhookSecret = defineRoute({
  ...base,
  operationId: 'renewWebhookSecret',
  method: 'POST',
  path: `${path}/:name/secret`,
  summary: 'A new secret; for a day what is sent is signed with the old one too',
  limit: 'write',
  params: oneWebhook,
  response: z.object({ secret }),
  status: 200,
  errors: ['not_found'],
});

export const listWebhookDeliveries = defineRoute({
  ...base,
  operationId: 'listWebhookDeliveries',
  memberRole: 'admin',
  method: 'GET',
  path: `${path}/:name/deliveries`,
  summary: 'What was sent and what is to be, newest first',
  limit: 'read',
  params: oneWebhook,
  query: listQuery.extend({ status: z.enum(['waiting', 'delivered', 'failed']).optional() }),
  response: listOf(delivery),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor', 'not_found'],
});

export const replayWebhook = defineRoute({
  ...base,
  operationId: 'replayWebhook',
  operatorScope: 'support',
  method: 'POST',
  path: `${path}/:name/replay`,
  summary: 'Send again, under the same ids: one event, or all since a time',
  limit: 'write',
  params: oneWebhook,
  body: z.union([z.strictObject({ id: uuid }), z.strictObject({ since: timestamp })], {
    error: 'is {"id": "<of a delivery>"} or {"since": "2026-01-31T12:00:00.000Z"}',
  }),
  response: z.object({ queued: z.int().describe('Events that are sent again') }),
  status: 200,
  errors: ['invalid_body', 'not_found', 'conflict'],
});
