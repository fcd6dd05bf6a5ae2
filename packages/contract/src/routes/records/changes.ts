import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { timestamp, uuid } from '../../schemas.ts';
import { base, inCollection, record } from './schemas/record-schemas.ts';
import { filter, wholeNumber } from './schemas/where-parameter.ts';

/** Changes of a page; a higher `limit` is taken for this one. */
export const maxPageChanges = 1000;

const changeTypes = ['create', 'update', 'delete', 'leave'] as const;

const toldChange = z
  .object({
    seq: z.int().describe('Grows with time, not strictly'),
    type: z
      .enum(changeTypes)
      .describe('leave: it fits the filter no more, or the caller may no longer read it'),
    id: uuid,
    record: record.optional().describe('As it is now; absent where it is gone'),
    changedAt: timestamp,
  })
  .meta({ id: 'RecordChange' });

export const listChanges = defineRoute({
  ...base,
  operationId: 'listChanges',
  method: 'GET',
  path: '/db/:collection/_changes',
  summary: 'What has changed since a cursor',
  limit: 'read',
  params: inCollection,
  query: z.object({
    since: z
      .string()
      .max(1024)
      .default('now')
      .describe('The cursor of the answer before; now: nothing but a cursor to begin with'),
    ...filter,
    limit: wholeNumber.default(100).describe('100 unless stated, at most 1,000'),
  }),
  response: z.object({
    items: z.array(toldChange),
    cursor: z.string(),
    hasMore: z.boolean(),
  }),
  status: 200,
  errors: [
    'invalid_path',
    'invalid_query',
    'invalid_where',
    'invalid_cursor',
    'cursor_gone',
    'conflict',
  ],
});
