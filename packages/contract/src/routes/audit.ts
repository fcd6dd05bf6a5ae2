import { z } from 'zod';
import { defineRoute } from '../define-route.ts';
import { actor } from '../events/acts.ts';
import { listOf, listQuery, timestamp, uuid } from '../schemas.ts';

/** docs/operations.md, "The audit log". */
export const mostExportedLines = 100_000;
export const keptDetailDays = 400;

const base = {
  service: 'projects',
  plane: 'platform',
  method: 'GET',
  limit: 'read',
  callers: ['owner', 'operator'],
  status: 200,
} as const;

const auditLine = z
  .object({
    id: uuid,
    at: timestamp,
    ownerId: z.string().nullable().describe('Whose chain the line is in; null: the platform’s own'),
    seq: z.int().describe('1, 2, 3 … in its chain, as lines were written'),
    action: z.string().describe('operationId of the route'),
    service: z.string(),
    projectId: z.string().nullable(),
    target: z.string().describe('What it was about: project, limits, webhooks/orders'),
    actor: actor.extend({ keyName: z.string().nullable() }),
    address: z.string().nullable().describe('Of an operator, for operators alone'),
    userAgent: z.string().nullable(),
    requestId: z.string(),
    before: z.record(z.string(), z.unknown()).nullable().describe('What differs, no secrets'),
    after: z.record(z.string(), z.unknown()).nullable(),
    erased: z.boolean().describe('Details are gone: the account was erased, or they were too old'),
    hash: z.string().describe('SHA-256 in hex, over the line before it too'),
  })
  .meta({ id: 'AuditLine' });
export type AuditLine = z.infer<typeof auditLine>;

const filter = {
  ownerId: uuid.optional().describe('For operators: of one owner'),
  projectId: z.string().max(100).optional(),
  action: z.string().max(100).optional(),
  target: z.string().max(300).optional().describe('How it begins: webhooks, webhooks/orders'),
  actor: z.string().max(200).optional().describe('Id of an account or a key; operator, key, owner'),
  from: timestamp.optional(),
  to: timestamp.optional().describe('Not at this time any more'),
};

export const listAudit = defineRoute({
  ...base,
  operationId: 'listAudit',
  path: '/audit',
  summary:
    'Who has changed what of the control plane, newest first: owners their own, operators all',
  query: listQuery.extend(filter),
  response: listOf(auditLine),
  errors: ['invalid_query', 'invalid_cursor', 'forbidden'],
});

export const exportAudit = defineRoute({
  ...base,
  operationId: 'exportAudit',
  path: '/audit/export',
  summary: `The same as a file, newest first; at most ${mostExportedLines} lines`,
  query: z.object({ ...filter, format: z.enum(['ndjson', 'csv']).default('ndjson') }),
  response: z.unknown(),
  answers: 'file',
  errors: ['invalid_query', 'forbidden'],
});

export const getAuditVerification = defineRoute({
  ...base,
  operationId: 'getAuditVerification',
  path: '/audit/verification',
  summary:
    'Whether the log is whole, as it was last checked; names the first broken line of a chain',
  response: z.object({
    chains: z.int(),
    lines: z.int(),
    checkedAt: timestamp.nullable().describe('The chain that was looked at longest ago'),
    broken: z
      .array(z.object({ ownerId: z.string().nullable(), seq: z.int(), reason: z.string() }))
      .describe('At most 100'),
  }),
  errors: ['forbidden'],
});
