import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, timestamp, uuid } from '../../schemas.ts';
import { recordSchema } from './schemas/record-schema.ts';
import { collectionName } from './schemas/record-schemas.ts';

const base = {
  service: 'records',
  plane: 'platform',
  callers: ['owner', 'key', 'operator'],
  status: 200,
  params: z.object({ projectId: idInPath, collection: collectionName }),
} as const;

const schemaReport = z
  .object({
    state: z.enum(['running', 'done']),
    count: z.int().min(0).describe('Records of the collection, by the last count'),
    checked: z.int().min(0).describe('Those that were looked at'),
    unfit: z.int().min(0).describe('Those of them that do not fit'),
    problems: z
      .array(
        z.object({
          path: z.string().describe('items[].price is of any element'),
          rule: z.string().describe('The keyword of the schema'),
          count: z.int().min(1).describe('Records'),
          example: uuid.describe('One of them'),
        }),
      )
      .describe('The most frequent first; up to 200 places'),
    others: z.int().min(0).describe('Problems in further places'),
    startedAt: timestamp,
    endedAt: timestamp.nullable(),
  })
  .meta({ id: 'SchemaReport' });
export type SchemaReport = z.infer<typeof schemaReport>;

export const getSchemaReport = defineRoute({
  ...base,
  operationId: 'getSchemaReport',
  method: 'GET',
  path: '/projects/:projectId/collections/:collection/schema-report',
  summary:
    'How many records do not fit the schema of their collection; the first call begins to look at them',
  limit: 'read',
  query: z.object({
    renew: z
      .enum(['1', '0', 'true', 'false', ''])
      .optional()
      .describe('1: looks at all records once more, where that is over'),
  }),
  response: schemaReport,
  errors: ['invalid_path', 'invalid_query', 'not_found', 'overloaded'],
});

export const proposeSchema = defineRoute({
  ...base,
  operationId: 'proposeSchema',
  changesNothing: true,
  method: 'POST',
  path: '/projects/:projectId/collections/:collection/schema-from-records',
  summary: 'A schema that a sample of the records fits, to look over and to set',
  limit: 'read',
  response: z.object({
    schema: recordSchema,
    sampled: z.int().min(0).describe('Records that were looked at; all of them fit'),
  }),
  errors: ['invalid_path', 'not_found', 'overloaded'],
});
