import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { listOf, listQuery, timestamp } from '../../schemas.ts';
import { base, oneRecord, record } from './schemas/record-schemas.ts';

const actor = z
  .string()
  .nullable()
  .describe(
    'Who has made it: user:<id>, key:<id>, owner, member:<id>, operator or platform; null: a visitor. Shown to the owner, keys, and the user themself',
  );
export const changedBy = { by: actor, requestId: z.string().nullable() };
/** Microseconds since 1970. */
export const changeSeq = z.int().min(0);

const historyEntry = z
  .object({
    seq: changeSeq
      .nullable()
      .describe(
        'What `_restore` takes, but of a create, which has nothing to bring back; null where a create is not found, such as an imported one',
      ),
    type: z.enum(['create', 'update', 'delete']),
    changedAt: timestamp,
    ...z.object(changedBy).partial().shape,
    before: record.nullable().describe('What there was, as far as the caller may see it'),
    after: record.nullable(),
  })
  .meta({ id: 'HistoryEntry' });
export type HistoryEntry = z.infer<typeof historyEntry>;

export const getHistory = defineRoute({
  ...base,
  operationId: 'getHistory',
  method: 'GET',
  path: '/db/:collection/:id/_history',
  summary: 'What has become of a record in the last days, newest first',
  limit: 'read',
  params: oneRecord,
  query: listQuery,
  response: listOf(historyEntry),
  status: 200,
  errors: ['invalid_path', 'invalid_query', 'invalid_cursor', 'not_found', 'conflict'],
});

export const restoreRecord = defineRoute({
  ...base,
  operationId: 'restoreRecord',
  method: 'POST',
  path: '/db/:collection/:id/_restore',
  summary: 'Write a record as it was before a change, deleted ones too',
  limit: 'write',
  params: oneRecord,
  body: z.strictObject({ seq: changeSeq.describe('Of the change, as `_history` names it') }),
  response: record,
  status: 200,
  errors: [
    'invalid_path',
    'invalid_body',
    'invalid_data',
    'schema_mismatch',
    'not_found',
    'forbidden',
    'conflict',
    'quota_reached',
    'limit_reached',
    'not_unique',
  ],
});
