import { z } from 'zod';
import { defineRoute } from '../define-route.ts';
import { listOf, timestamp, uuid } from '../schemas.ts';

const by = z.enum(['project', 'owner', 'route', 'address']);
const count = z.number().int().min(0);

const usageLine = z
  .object({
    projectId: z
      .string()
      .nullable()
      .optional()
      .describe('Null: of no project, of erased ones, or of those too small to be told apart'),
    projectName: z.string().nullable().optional(),
    status: z.enum(['active', 'paused', 'deleted']).nullable().optional(),
    ownerId: uuid.nullable().optional(),
    route: z.string().nullable().optional().describe('operationId; `none`: there is no such route'),
    address: z
      .string()
      .nullable()
      .optional()
      .describe(
        'Network: 203.0.113.0/24, 2001:db8::/48; null for those too small to be told apart',
      ),
    calls: count.describe('All of them: free and refused ones too'),
    errors: count.describe('Answered with a status of 400 and above'),
    refusals: count.describe('Of the errors: 402 and 429'),
    faults: count.describe('Of the errors: 500 and above'),
    bytes: count.describe('Of requests and answers'),
    dbMs: count.describe('Milliseconds that statements took, until answers began'),
    cpuMs: count.describe('Milliseconds of services’ threads, until answers began; an estimate'),
    millicredits: count.describe('As the ledger has booked them'),
  })
  .meta({ id: 'PlatformUsageItem' });

const time = z.iso.datetime({ offset: true });

export const getPlatformUsage = defineRoute({
  service: 'projects',
  plane: 'platform',
  callers: ['operator'],
  operationId: 'getPlatformUsage',
  method: 'GET',
  path: '/usage',
  summary: 'Who makes the load: what calls of all projects came to, the heaviest first',
  limit: 'read',
  query: z.object({
    by: by.default('project'),
    sort: z
      .enum(['-calls', '-errors', '-bytes', '-dbMs', '-cpuMs', '-millicredits'])
      .default('-calls'),
    from: time.optional().describe('An hour ago unless stated; 90 days at most, networks 9'),
    to: time.optional().describe('Now unless stated'),
    projectId: z.string().min(1).max(64).optional(),
    ownerId: uuid.optional(),
    route: z
      .string()
      .regex(/^[A-Za-z]{1,64}$/, 'must be an operationId')
      .optional()
      .describe('operationId; not by address'),
    limit: z.coerce.number<string>().int().min(1).max(100).default(50),
  }),
  response: listOf(usageLine).extend({
    by,
    step: z.enum(['minutes', 'hours', 'days']).describe('Five minutes, an hour, a day in UTC'),
    from: timestamp.describe('Whole steps'),
    to: timestamp,
    total: count.describe('Of what is sorted by, of all, those that are not listed too'),
  }),
  status: 200,
  errors: ['invalid_query'],
});
