import { z } from 'zod';
import { callers, defineRoute } from '../define-route.ts';
import { idInPath, listOf, listQuery, text, timestamp, uuid } from '../schemas.ts';

const base = { service: 'projects', plane: 'platform' } as const;
const millicredits = z.number().int();
const amount = millicredits.min(0);

const historyItem = z
  .object({
    id: uuid,
    kind: z.enum(['grant', 'debit', 'refund', 'expiry', 'correction']),
    amountMillicredits: millicredits.describe('Signed; all items of an owner sum to the balance'),
    projectId: z.string().nullable(),
    requestId: z.string().nullable(),
    route: z.string().nullable(),
    createdAt: timestamp,
  })
  .meta({ id: 'CreditEntry' });

export const getCredits = defineRoute({
  ...base,
  callers: ['owner', 'operator'],
  operationId: 'getCredits',
  method: 'GET',
  path: '/credits',
  summary: 'Balance and credit history, newest first; the operator names the owner',
  limit: 'read',
  query: listQuery.extend({ ownerId: uuid.optional() }),
  response: listOf(historyItem).extend({
    balanceMillicredits: amount,
    reservedMillicredits: amount.describe('Held for calls under way or not booked yet'),
  }),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor', 'forbidden'],
});

export const createGrant = defineRoute({
  ...base,
  callers: ['operator'],
  operationId: 'createGrant',
  method: 'POST',
  path: '/credits/grants',
  summary: 'Grant credits to an owner; credits that expire first are spent first',
  limit: 'write',
  body: z.strictObject({
    ownerId: uuid,
    credits: z.number().int().min(1).max(1_000_000_000),
    reason: text(1, 500),
    expiresAt: z.iso.datetime().optional(),
  }),
  response: z.object({
    id: uuid,
    ownerId: uuid,
    credits: z.number().int(),
    reason: z.string(),
    expiresAt: timestamp.nullable(),
    createdAt: timestamp,
  }),
  status: 201,
  errors: ['invalid_body', 'not_found', 'conflict'],
});

const price = z
  .object({
    operationId: z.string(),
    operations: z.array(z.string()).describe('Every operation with this price'),
    quantity: z.enum(['tokens', 'recipients', 'bytes']).describe('What is counted'),
    unitSize: z.number().int().describe('So many of them are one unit'),
    chargesStartedUnits: z.boolean().describe('A started unit counts as a whole one'),
    millicreditsPerUnit: amount,
    minimumMillicredits: amount.describe('For a call that used anything, and for an empty file'),
  })
  .meta({ id: 'Price' });

export const listPrices = defineRoute({
  ...base,
  callers,
  operationId: 'listPrices',
  method: 'GET',
  path: '/prices',
  summary: 'The prices in force; every other call is free',
  limit: 'read',
  response: listOf(price),
  status: 200,
  errors: [],
});

const firstDay = '2000-01-01';
const lastDay = '2999-12-31';
const day = z.iso
  .date()
  .refine((value) => value >= firstDay && value <= lastDay, `must lie in ${firstDay} to ${lastDay}`)
  .describe('A calendar day in UTC');
const usageItem = z
  .object({
    day: z.iso.date().optional(),
    route: z.string().optional().describe('operationId'),
    calls: z.number().int(),
    millicredits: amount,
  })
  .meta({ id: 'UsageItem' });

export const getUsage = defineRoute({
  ...base,
  callers: ['owner', 'operator'],
  operationId: 'getUsage',
  method: 'GET',
  path: '/projects/:projectId/usage',
  summary: "A project's priced calls by day or by route, of the last 30 days unless stated",
  limit: 'read',
  params: z.object({ projectId: idInPath }),
  query: z.object({
    from: day.optional(),
    to: day.optional(),
    by: z.enum(['day', 'route']).default('day'),
  }),
  response: listOf(usageItem).extend({
    from: z.iso.date(),
    to: z.iso.date(),
    by: z.enum(['day', 'route']),
    calls: z.number().int(),
    millicredits: amount,
  }),
  status: 200,
  errors: ['invalid_query', 'not_found'],
});
