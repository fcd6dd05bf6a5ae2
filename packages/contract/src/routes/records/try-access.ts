import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { parseViewAs, viewAsForm } from '../../rights/view-as.ts';
import { collectionAccess } from '../../rules/access-rules.ts';
import { idInPath, uuid } from '../../schemas.ts';
import { decision } from './access-check.ts';
import { collectionName } from './schemas/record-schemas.ts';

/** Records on which rules are tried. */
const mostTried = 200;

const outcome = z.object({
  read: z.boolean(),
  change: z.boolean().describe('As it is now; rules on values are asked again of what it becomes'),
  delete: z.boolean(),
  hidden: z.array(z.string()).describe('Fields of `fields` that the caller does not see in it'),
  frozen: z.array(z.string()).describe('Fields of `fields` that they may not change in it'),
});

export const tryAccess = defineRoute({
  service: 'records',
  plane: 'platform',
  callers: ['owner', 'key', 'operator'],
  operationId: 'tryAccess',
  operatorScope: 'read',
  changesNothing: true,
  memberRole: 'viewer',
  method: 'POST',
  path: '/projects/:projectId/collections/:collection/try-access',
  summary:
    'What a caller could do with a sample of the records by other rules, or by those in force; changes nothing',
  limit: 'read',
  params: z.object({ projectId: idInPath, collection: collectionName }),
  body: z.strictObject({
    access: collectionAccess.optional().describe('Those in force unless stated'),
    as: z
      .string()
      .max(100)
      .refine((as) => parseViewAs(as) !== undefined, `must be ${viewAsForm}`),
    limit: z.int().min(1).max(mostTried).default(50).describe('Records: half of them the newest'),
  }),
  response: z.object({
    collection: z.string(),
    as: z.string(),
    access: collectionAccess.describe('The rules that were tried'),
    rules: z
      .object({
        read: decision,
        create: decision,
        change: decision,
        delete: decision,
        count: decision,
      })
      .describe('About any record'),
    sampled: z.int().min(0),
    readable: z.int().min(0),
    changeable: z.int().min(0),
    deletable: z.int().min(0),
    items: z
      .array(
        outcome.extend({
          id: uuid,
          inForce: outcome.describe('By the rules that hold now'),
        }),
      )
      .describe('Newest first'),
  }),
  status: 200,
  errors: ['invalid_body', 'not_found', 'overloaded'],
});
