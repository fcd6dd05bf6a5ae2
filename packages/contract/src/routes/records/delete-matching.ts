import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { base, inCollection } from './schemas/record-schemas.ts';
import { filter } from './schemas/where-parameter.ts';

export const deleteRecords = defineRoute({
  ...base,
  callers: ['owner', 'key', 'operator'],
  operationId: 'deleteRecords',
  method: 'DELETE',
  path: '/db/:collection',
  summary: 'Delete the records that fit a filter',
  limit: 'write',
  params: inCollection,
  query: z.object({
    where: filter.where,
    dryRun: z
      .enum(['1', '0', 'true', 'false', ''])
      .optional()
      .describe('1: only counts what would be deleted'),
    cursor: z.string().max(8192).optional().describe('The nextCursor of the call before'),
  }),
  response: z.object({
    count: z.int().min(0).describe('Records that this call has deleted'),
    hasMore: z.boolean().describe('The call has ended early: go on with the cursor'),
    nextCursor: z.string().nullable(),
    dryRun: z.literal(true).optional(),
    approximate: z.literal(true).optional().describe('The count of a dry run is an estimate'),
  }),
  status: 200,
  errors: ['invalid_path', 'invalid_query', 'invalid_where', 'invalid_cursor', 'overloaded'],
});
