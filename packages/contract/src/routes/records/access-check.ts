import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { collectionAccess, ruleEntry } from '../../rules/access-rules.ts';
import { idInPath, isUuid } from '../../schemas.ts';
import { collectionName } from './schemas/record-schemas.ts';

const platform = {
  service: 'records',
  plane: 'platform',
  callers: ['owner', 'key', 'operator'],
} as const;

export const decision = z
  .object({
    allowed: z.enum(['yes', 'no', 'depends']).describe('depends: on the record'),
    by: z.array(ruleEntry).describe('What of the rule holds, or may hold'),
    rule: z.array(ruleEntry),
  })
  .meta({ id: 'AccessDecision' });

const toMembership = (text: string) => {
  const [id = '', role = 'member'] = text.split(':');
  return { id: id.toLowerCase(), role };
};

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
      .transform((text) => (text === '' ? [] : text.split(',').map(toMembership)))
      .refine(
        (groups) => groups.length <= 100 && groups.every(({ id }) => isUuid(id)),
        'must be at most 100 ids of groups with commas between them',
      )
      .optional()
      .describe(
        'What if the user were in these, as members unless `<id>:<role>` says otherwise; their own unless stated',
      ),
    verified: z
      .enum(['1', '0', 'true', 'false'])
      .optional()
      .describe('What if their address were verified, or were not'),
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
