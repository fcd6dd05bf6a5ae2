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
    grantId: uuid.nullable().describe('Of a grant, of what has expired of it, and of its reversal'),
    reason: z.string().nullable().describe('Of a grant and of its reversal'),
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
    forecast: z
      .object({
        days: z.number().int().describe('Last days that the estimate follows from'),
        millicreditsPerDay: amount,
        endsAt: timestamp
          .nullable()
          .describe('Null where the credits last until the next ones come'),
      })
      .describe('An estimate: when the credits end if they go on to be spent as in these days'),
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

export const reverseGrant = defineRoute({
  ...base,
  callers: ['operator'],
  operationId: 'reverseGrant',
  method: 'POST',
  path: '/credits/grants/:grantId/reverse',
  summary: 'Take back what is left of a grant, once; what was spent of it stays spent',
  limit: 'write',
  params: z.object({ grantId: idInPath }),
  body: z.strictObject({ reason: text(1, 500) }),
  response: z.object({
    grantId: uuid,
    ownerId: uuid,
    reason: z.string(),
    reversedMillicredits: amount,
    spentMillicredits: amount.describe('Of the grant, before'),
    balanceMillicredits: amount.describe('Of the owner, after'),
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
    caller: z
      .string()
      .nullable()
      .optional()
      .describe('user:<id>, key:<id>, owner, operator or visitor; null: past the 1,000th of a day'),
    address: z
      .string()
      .nullable()
      .optional()
      .describe('Network address of visitors and users; null: past the 1,000th of a day'),
    calls: z.number().int(),
    millicredits: amount,
    units: z
      .number()
      .min(0)
      .optional()
      .describe('Tokens, recipients or bytes that were used; where one route is asked for'),
  })
  .meta({ id: 'UsageItem' });

const usageKind = z
  .enum(['day', 'route', 'caller', 'address'])
  .describe('Callers and addresses: of the last 30 days');

export const getUsage = defineRoute({
  ...base,
  callers: ['owner', 'operator'],
  operationId: 'getUsage',
  method: 'GET',
  path: '/projects/:projectId/usage',
  summary:
    "A project's priced calls by day, route, caller or address, of the last 30 days unless stated",
  limit: 'read',
  params: z.object({ projectId: idInPath }),
  query: z.object({
    from: day.optional(),
    to: day.optional(),
    by: usageKind.default('day'),
    route: z
      .string()
      .regex(/^[A-Za-z]{1,64}$/, 'must be an operationId')
      .optional()
      .describe('operationId: calls of this route alone, by day, with what they used'),
  }),
  response: listOf(usageItem).extend({
    from: z.iso.date(),
    to: z.iso.date(),
    by: usageKind,
    calls: z.number().int(),
    millicredits: amount,
  }),
  status: 200,
  errors: ['invalid_query', 'not_found'],
});

const topSpender = z
  .object({
    projectId: z.string().optional(),
    name: z.string().optional(),
    status: z.enum(['active', 'paused', 'deleted']).optional(),
    ownerId: uuid.nullable(),
    calls: z.number().int(),
    millicredits: amount,
  })
  .meta({ id: 'TopSpender' });

export const listTopSpenders = defineRoute({
  ...base,
  callers: ['operator'],
  operationId: 'listTopSpenders',
  method: 'GET',
  path: '/spenders',
  summary: 'The 100 projects, or owners, whose priced calls cost most',
  limit: 'read',
  query: z.object({
    by: z.enum(['project', 'owner']).default('project'),
    days: z.coerce
      .number()
      .int()
      .min(1)
      .max(30)
      .default(30)
      .describe('Calendar days in UTC, with today'),
  }),
  response: listOf(topSpender),
  status: 200,
  errors: ['invalid_query'],
});

const differing = z.number().int().min(0);

export const getReconciliation = defineRoute({
  ...base,
  callers: ['operator'],
  operationId: 'getReconciliation',
  method: 'GET',
  path: '/reconciliation',
  summary: 'When the ledger was last compared with itself, and how many owners differed',
  limit: 'read',
  response: z.object({
    startedAt: timestamp.nullable().describe('Null: not yet'),
    owners: z
      .object({
        lines: differing.describe('Lines are missing or too many'),
        balance: differing.describe('They sum to another balance'),
        grants: differing.describe('What remains of grants is not the balance'),
        held: differing.describe('Credits are held for calls that were booked'),
      })
      .describe('How many differ, by what'),
  }),
  status: 200,
  errors: [],
});
