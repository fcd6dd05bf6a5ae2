import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { explain, explained } from './schemas/explained.ts';
import { base, inCollection, shown, shownRecord } from './schemas/record-schemas.ts';
import { emptyHint, filter, search, wholeNumber } from './schemas/where-parameter.ts';

/** Records of a page; a higher `limit` is taken for this one. */
export const maxPageRecords = 1000;

export const listRecords = defineRoute({
  ...base,
  operationId: 'listRecords',
  tellsPlan: true,
  method: 'GET',
  path: '/db/:collection',
  summary: 'List records',
  limit: 'read',
  params: inCollection,
  query: z.object({
    ...filter,
    search,
    sort: z
      .string()
      .max(1024)
      .optional()
      .describe('Up to 3 comma-separated fields, - before one for descending'),
    limit: wholeNumber.default(100).describe('100 unless stated, at most 1,000'),
    offset: wholeNumber.default(0).describe('At most 10,000; cursor goes further'),
    cursor: z.string().max(8192).optional().describe('The nextCursor of the page before'),
    ...shown,
    total: z
      .enum(['1', '0', 'true', 'false', ''])
      .optional()
      .describe('1: with the count of all records that fit'),
    explain,
  }),
  response: z.object({
    items: z.array(shownRecord),
    hasMore: z.boolean(),
    nextCursor: z.string().nullable(),
    total: z.int().min(0).optional(),
    approximate: z.literal(true).optional().describe('The total is an estimate'),
    hint: emptyHint,
    explain: explained,
  }),
  status: 200,
  errors: [
    'invalid_path',
    'invalid_query',
    'invalid_where',
    'invalid_sort',
    'invalid_cursor',
    'query_too_expensive',
    'index_building',
  ],
});

export const countRecords = defineRoute({
  ...base,
  operationId: 'countRecords',
  tellsPlan: true,
  method: 'GET',
  path: '/db/:collection/_count',
  summary: 'Count records',
  limit: 'read',
  params: inCollection,
  query: z.object({ ...filter, search, explain }),
  response: z.object({
    count: z.number().int().min(0),
    approximate: z.literal(true).optional(),
    hint: emptyHint,
    explain: explained,
  }),
  status: 200,
  errors: [
    'invalid_path',
    'invalid_query',
    'invalid_where',
    'query_too_expensive',
    'index_building',
  ],
});
