import { z } from 'zod';
import { collectionAccess } from '../../access-rules.ts';
import { defineRoute } from '../../define-route.ts';
import { idInPath, isUuid } from '../../schemas.ts';
import { collectionName } from './schemas/record-schemas.ts';

const platform = {
  service: 'records',
  plane: 'platform',
  callers: ['owner', 'key', 'operator'],
} as const;

const decision = z
  .object({
    allowed: z.enum(['yes', 'no', 'depends']).describe('depends: on the record'),
    by: z.array(z.string()).describe('The words of the rule that hold, or may hold'),
    rule: z.array(z.string()),
  })
  .meta({ id: 'AccessDecision' });

export const checkAccess = defineRoute({
  ...platform,
  operationId: 'checkAccess',
  method: 'GET',
  path: '/projects/:projectId/access-check',
  summary: 'What a caller may do in a collection or with a record, and by which rule',
  limit: 'read',
  params: z.object({ projectId: idInPath }),
  query: z.object({
    as: z
      .string()
      .refine(
        (as) => as === 'anonymous' || (as.startsWith('user:') && isUuid(as.slice(5))),
        'must be "anonymous" or "user:<id>"',
      ),
    role: z
      .string()
      .max(32)
      .optional()
      .describe('What if the user had this one; their own unless stated'),
    groups: z
      .string()
      .transform((ids) => (ids === '' ? [] : ids.split(',')))
      .refine(
        (ids) => ids.length <= 100 && ids.every(isUuid),
        'must be at most 100 ids of groups with commas between them',
      )
      .optional()
      .describe('What if the user were in these; their own unless stated'),
    collection: collectionName,
    record: z.string().optional().describe('Its id; without one the answer is about any record'),
  }),
  response: z.object({
    as: z.string(),
    collection: z.string(),
    access: collectionAccess,
    read: decision,
    create: decision,
    change: decision,
    delete: decision,
    count: decision.describe('Adding to numbers by a PATCH with `inc` alone'),
    fields: z.record(z.string(), z.object({ read: decision, create: decision, change: decision })),
  }),
  status: 200,
  errors: ['invalid_query', 'not_found'],
});
