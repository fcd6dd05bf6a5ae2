import { z } from 'zod';
import { callers, defineRoute } from '../../define-route.ts';
import { collectionAccess } from '../../rules/access-rules.ts';
import { idInPath, listOf, timestamp } from '../../schemas.ts';

const platform = {
  service: 'records',
  plane: 'platform',
  callers: ['owner', 'key', 'operator'],
  limit: 'read',
  params: z.object({ projectId: idInPath }),
  status: 200,
} as const;

const calls = z.int().min(0);
const byCaller = z
  .partialRecord(z.enum(callers), calls)
  .describe(
    'Calls that were done in the last 24 hours, by kind of caller; kinds without are left out',
  );

const exposedField = z
  .object({
    field: z.string(),
    kind: z
      .enum(['email', 'phone', 'card', 'secret', 'amount'])
      .describe('What values of a sample look like; none is ever shown'),
    isOpen: z.boolean().describe('Whether strangers may read it, in some records at least'),
  })
  .meta({ id: 'ExposedField' });

const call = z.object({
  method: z.literal('PUT'),
  path: z.string(),
  body: z.object({ access: collectionAccess }),
});

const stricter = z
  .object({
    rule: z
      .enum(['hide-fields', 'users', 'owner'])
      .describe('Only owners of records see such fields; only users read; only owners read'),
    refused: calls.describe('Reads of the last 24 hours that would have been refused'),
    narrowed: calls.describe('Those that would have shown less'),
    set: call,
    undo: call,
  })
  .meta({ id: 'StricterRule' });

const exposedCollection = z
  .object({
    name: z.string(),
    access: collectionAccess,
    strangersRead: z.enum(['all', 'some', 'none']).describe('Records, by the rules'),
    reads: byCaller,
    writes: byCaller,
    refused: byCaller.describe('Calls that rules have refused in the last 24 hours'),
    sampled: z.int().min(0).describe('Records that were looked at; 0 where there was no time left'),
    fields: z.array(exposedField),
    stricter: z.array(stricter).describe('Where strangers or all users read'),
  })
  .meta({ id: 'ExposedCollection' });

export const getExposure = defineRoute({
  ...platform,
  operationId: 'getExposure',
  method: 'GET',
  path: '/projects/:projectId/exposure',
  summary:
    'Who reads what, which collections hold addresses, phones, keys or amounts, and what stricter rules would have refused',
  response: z.object({ since: timestamp, items: z.array(exposedCollection) }),
  errors: ['not_found', 'overloaded'],
});

export const listRefusals = defineRoute({
  ...platform,
  operationId: 'listRefusals',
  method: 'GET',
  path: '/projects/:projectId/refusals',
  summary: 'What rules have refused in the last 24 hours, the most frequent first',
  response: listOf(
    z
      .object({
        collection: z.string(),
        rule: z
          .enum(['read', 'create', 'change', 'delete', 'batch'])
          .describe('batch: one of the rules for writes'),
        caller: z.enum(callers),
        refused: calls,
        done: calls.describe('Of the same kind that were not'),
      })
      .meta({ id: 'Refusal' }),
  ).extend({ since: timestamp }),
  errors: ['not_found'],
});

export const listVisits = defineRoute({
  ...platform,
  operationId: 'listVisits',
  method: 'GET',
  path: '/projects/:projectId/visits',
  summary: 'About how many users and addresses called /db, by day (UTC)',
  query: z.object({ days: z.coerce.number().int().min(1).max(90).default(30) }),
  response: listOf(
    z
      .object({
        day: z.iso.date(),
        visitors: z.int().min(0).describe('An estimate, off by some 2 % where there are many'),
      })
      .meta({ id: 'VisitsOfDay' }),
  ),
  errors: ['invalid_query', 'not_found'],
});
