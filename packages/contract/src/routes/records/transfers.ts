import { z } from 'zod';
import { defineRoute, MIB } from '../../define-route.ts';
import { uuid } from '../../schemas.ts';
import { base, inCollection } from './schemas/record-schemas.ts';
import { filter } from './schemas/where-parameter.ts';

const flag = z.enum(['1', '0', 'true', 'false', '']).optional();
const lineNumber = z
  .string()
  .regex(/^[1-9]\d{0,9}$/, 'must be the number of a line, 1 or more')
  .meta({ type: 'integer', minimum: 1, pattern: undefined })
  .transform(Number);
const format = z.enum(['ndjson', 'csv']);

/** Media types of these formats. */
export const lineTypes = { ndjson: 'application/x-ndjson', csv: 'text/csv' } as const;

/** What a cell of a column is read as. */
export const columnTypes = ['text', 'number', 'boolean', 'json'] as const;
export type ColumnType = (typeof columnTypes)[number];

export const exportRecords = defineRoute({
  ...base,
  operationId: 'exportRecords',
  method: 'GET',
  path: '/db/:collection/_export',
  summary: 'All records of a collection that the caller may read, a line each, oldest first',
  limit: 'read',
  params: inCollection,
  query: z.object({
    format: format.default('ndjson'),
    ...filter,
    fields: z
      .string()
      .max(8192)
      .optional()
      .describe('Shows these fields and the id alone; of CSV the columns, in this order'),
    after: uuid.optional().describe('The id of the last line that has come: what follows it'),
  }),
  response: z.unknown(),
  answers: 'file',
  status: 200,
  errors: ['invalid_path', 'invalid_query', 'invalid_where', 'not_found', 'overloaded'],
});

/** Bytes of one body. A longer one goes in several. */
export const maxImportBytes = 1024 * MIB;
/** Lines that an answer names. */
export const maxFailedLines = 100;

const refusal = z.object({ code: z.string(), error: z.string(), hint: z.string().optional() });

export const importRecords = defineRoute({
  ...base,
  callers: ['owner', 'key', 'operator'],
  operationId: 'importRecords',
  method: 'POST',
  path: '/db/:collection/_import',
  summary: 'Make records of lines, as an export has them',
  limit: 'write',
  takes: 'bytes',
  bodyTypes: [lineTypes.ndjson, lineTypes.csv],
  params: inCollection,
  query: z.object({
    format: format.optional().describe('Without it the Content-Type says'),
    import: uuid
      .optional()
      .describe('A new UUIDv7: a line makes one record under it, however often it is sent'),
    from: lineNumber.optional().describe('Lines before it are passed over'),
    firstLine: lineNumber
      .optional()
      .describe('The number of the first line of this body, of CSV of the first behind its header'),
    types: z
      .string()
      .max(65_536)
      .optional()
      .describe('Of columns of CSV, others are guessed: {"zip":"text","tags":"json"}'),
    idField: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('The field that keeps an id which is no UUIDv7'),
    unknownOwners: z
      .enum(['refuse', 'drop'])
      .default('refuse')
      .describe('drop: a record whose ownerId is no user’s is nobody’s'),
    dryRun: flag.describe('1: reads and checks the lines, and writes nothing'),
  }),
  body: z.file(),
  bodyLimitBytes: maxImportBytes,
  response: z.object({
    import: uuid,
    created: z.int().min(0),
    skipped: z.int().min(0).describe('Records that were there under these ids'),
    failed: z
      .array(refusal.omit({ hint: true }).extend({ line: z.int().min(1) }))
      .describe('The first 100'),
    failedCount: z.int().min(0),
    next: z.int().min(1).nullable().describe('Go on with from=<next>; null: all lines are done'),
    stopped: refusal.optional().describe('What keeps the next line, and others, from being made'),
    types: z.record(z.string(), z.enum(columnTypes)).optional().describe('Of the columns of CSV'),
    dryRun: z.literal(true).optional(),
  }),
  status: 200,
  errors: [
    'invalid_path',
    'invalid_query',
    'invalid_body',
    'invalid_data',
    'invalid_header',
    'collection_limit',
    'quota_reached',
    'unsupported_media_type',
    'request_timeout',
    'overloaded',
  ],
});
