import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { collectionAccess } from '../../rules/access-rules.ts';
import { idInPath } from '../../schemas.ts';
import { recordSchema } from './schemas/record-schema.ts';

const fieldTypes = ['string', 'number', 'boolean', 'object', 'array', 'null'] as const;
export type FieldType = (typeof fieldTypes)[number];

const types = z.array(z.enum(fieldTypes));

const fieldShape = z
  .object({
    path: z
      .string()
      .describe('As in where and sort: dots lead into objects and into those of arrays'),
    types: types.describe('Most common first'),
    isIndexed: z.literal(true).optional().describe('An index answers lists by it'),
    share: z.number().min(0).max(1).describe('Of the sampled records, or of the objects around it'),
    itemTypes: types.optional().describe('Of the elements, where it is an array'),
    values: z
      .array(z.string())
      .optional()
      .describe('All that the sample has, where they look like an enumeration'),
  })
  .meta({ id: 'FieldShape' });
export type FieldShape = z.infer<typeof fieldShape>;

const collectionShape = z
  .object({
    name: z.string(),
    access: collectionAccess,
    count: z.int().min(0),
    sampled: z.int().min(0).describe('Records that were looked at'),
    fields: z.array(fieldShape),
    hasMoreFields: z.boolean(),
    schema: recordSchema.optional().describe('What records have to be, where their owner says so'),
  })
  .meta({ id: 'CollectionShape' });
export type CollectionShape = z.infer<typeof collectionShape>;

/** Names of fields are private: they are for the owner and the keys of a project. */
const base = {
  service: 'records',
  plane: 'platform',
  callers: ['owner', 'key', 'operator'],
  method: 'GET',
  limit: 'read',
  status: 200,
} as const;

export const getProjectShape = defineRoute({
  ...base,
  operationId: 'getProjectShape',
  path: '/projects/:projectId/shape',
  summary: 'Fields of all collections, from a sample of 500 newest and 500 random records of each',
  params: z.object({ projectId: idInPath }),
  response: z.object({ collections: z.array(collectionShape) }),
  errors: ['not_found', 'overloaded'],
});

export const getCollectionShape = defineRoute({
  ...base,
  operationId: 'getCollectionShape',
  path: '/projects/:projectId/collections/:collection/shape',
  summary: 'Fields of one collection, from a sample of its records',
  params: z.object({ projectId: idInPath, collection: idInPath }),
  response: collectionShape,
  errors: ['not_found', 'overloaded'],
});
