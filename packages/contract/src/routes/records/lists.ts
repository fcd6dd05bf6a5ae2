import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { uuid } from '../../schemas.ts';
import { base, inCollection, shown, shownRecord } from './record-schemas.ts';

const emptyHint = z
  .string()
  .optional()
  .describe('Why nothing fits the filter, perhaps; from a sample of what this caller may read');

const missingHint = z
  .string()
  .optional()
  .describe('A field that was asked for and is in no record, and what it may have been');

/** Numbers as a browser sends them; `limit` above 1,000 is clamped. */
const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number of 0 or more')
  .meta({ type: 'integer', minimum: 0, pattern: undefined })
  .transform(Number);

const whereDescription = `JSON, a subset of MongoDB’s query language, at most 8 KB. All of its conditions hold: {"done":false,"rank":{"$gte":2}}
- $eq, $ne, $gt, $gte, $lt, $lte: {"n":{"$lt":5}}
- $in, $nin, of up to 100 values: {"tag":{"$in":["a","b"]}}
- $exists, $size, $all: {"tags":{"$all":["a","b"]}}
- $contains, $startsWith, $endsWith: {"title":{"$contains":"tea","$options":"i"}}
- $and, $or, $nor, $not: {"$or":[{"a":1},{"b":{"$not":{"$gt":5}}}]}
- paths have dots: {"address.city":"Rome"}
- records of a group: {"groupId":"<id>"}`;
const filter = {
  where: z.string().optional().describe(whereDescription),
  mine: z
    .enum(['1', '0', 'true', 'false', ''])
    .optional()
    .describe('1: only the caller’s own records'),
  group: uuid.optional().describe('Only records of this group'),
};

const search = z
  .string()
  .max(200)
  .optional()
  .describe('Up to 10 words that a record has to have, in a collection that can be searched');

/** Records of a page; a higher `limit` is taken for this one. */
export const maxPageRecords = 1000;

export const listRecords = defineRoute({
  ...base,
  operationId: 'listRecords',
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
  }),
  response: z.object({
    items: z.array(shownRecord),
    hasMore: z.boolean(),
    nextCursor: z.string().nullable(),
    total: z.int().min(0).optional(),
    approximate: z.literal(true).optional().describe('The total is an estimate'),
    hint: emptyHint,
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
  method: 'GET',
  path: '/db/:collection/_count',
  summary: 'Count records',
  limit: 'read',
  params: inCollection,
  query: z.object({ ...filter, search }),
  response: z.object({
    count: z.number().int().min(0),
    approximate: z.literal(true).optional(),
    hint: emptyHint,
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

const measured = z.string().max(1024).optional();
const measures = z.record(z.string(), z.union([z.number(), z.string(), z.null()])).optional();
/** docs/api.md, "Groups and sums". */
export const maxGroups = 1000;

export const aggregateRecords = defineRoute({
  ...base,
  operationId: 'aggregateRecords',
  method: 'GET',
  path: '/db/:collection/_aggregate',
  summary: 'Count records by a field, with sums, averages and extremes of others',
  limit: 'read',
  params: inCollection,
  query: z.object({
    ...filter,
    group: z
      .string()
      .max(1024)
      .optional()
      .describe('A field; without it all records are one group'),
    sum: measured.describe('Up to 3 fields, of which the numbers count'),
    avg: measured.describe('Up to 3 fields, of which the numbers count'),
    min: measured.describe('Up to 3 fields: the least number, else the first of the strings'),
    max: measured.describe('Up to 3 fields: the largest number, else the last of the strings'),
  }),
  response: z.object({
    groups: z
      .array(
        z.object({
          group: z
            .unknown()
            .optional()
            .describe('The value of the field; null where it is missing'),
          count: z.int().min(0),
          sum: measures,
          avg: measures,
          min: measures,
          max: measures,
        }),
      )
      .max(maxGroups)
      .describe('The largest first'),
    hint: missingHint,
  }),
  status: 200,
  errors: ['invalid_path', 'invalid_query', 'invalid_where', 'query_too_expensive'],
});

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
