import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { collectionAccess } from '../../rules/access-rules.ts';
import { collectionLimits, limitsChange } from '../../rules/collection-limits.ts';
import { idInPath, timestamp, uuid } from '../../schemas.ts';
import { recordSchema } from './schemas/record-schema.ts';
import { collectionName } from './schemas/record-schemas.ts';

/** What becomes of the records of a user whose account is erased. */
const onErase = z.enum(['delete', 'keep', 'anonymise']);
export type OnErase = z.infer<typeof onErase>;

const platform = {
  service: 'records',
  plane: 'platform',
  callers: ['owner', 'key', 'operator'],
} as const;

export const collection = z
  .object({
    name: z.string(),
    access: collectionAccess.describe('The name of a preset, or rules'),
    advice: z.string().optional().describe('What its owner should know of its access'),
    count: z.number().int().min(0),
    sizeBytes: z.number().int().min(0).describe('Of the documents as JSON'),
    createdAt: timestamp,
    onErase: onErase.describe('What becomes of the records of a user whose account is erased'),
    indexes: z.array(
      z.object({
        field: z.string(),
        state: z.enum(['building', 'ready', 'dropping']).describe('Only a ready one answers lists'),
        progress: z
          .number()
          .min(0)
          .max(1)
          .optional()
          .describe('While it is building: the share of the records that it has'),
        waitsFor: z
          .enum(['writes', 'turn'])
          .optional()
          .describe(
            'Where building has not begun: writes under way end first, or others have their turn',
          ),
        isPinned: z.boolean().describe('Asked for by the owner; others follow from the lists'),
        reason: z
          .object({
            scans: z.int().min(0).describe('Lists and counts that asked for the field'),
            scannedMs: z.int().min(0).describe('How long they looked through records'),
          })
          .nullable()
          .describe('For which it has made itself, of a day; null where the owner has asked first'),
        uses: z.int().min(0).describe('Lists and counts that it has answered'),
        lastUsedAt: timestamp.nullable(),
      }),
    ),
    missingIndexes: z
      .array(
        z.object({
          field: z.string(),
          scans: z.int().min(0),
          scannedMs: z.int().min(0),
          state: z
            .enum(['few_records', 'seldom', 'waiting', 'no_values', 'no_room', 'failed'])
            .describe(
              'Why there is none: fewer than 2,000 records by the last count; looked for too little; another one of the collection is built first; a sample of the records has no values there that compare; all six are taken; the last try failed',
            ),
        }),
      )
      .describe('Up to 10 fields that lists and counts of a day looked through records for'),
    unique: z
      .array(
        z.object({
          field: z
            .union([z.string(), z.array(z.string())])
            .describe('Several where they are unique together'),
          state: z
            .enum(['building', 'ready', 'failed'])
            .describe(
              'A failed one is not watched: two records have the same value, or the quota was full',
            ),
          duplicates: z.array(uuid).optional().describe('Two such records'),
        }),
      )
      .describe('Fields of which no two records have the same value, or the same values together'),
    search: z
      .object({
        fields: z.array(z.string()).nullable().describe('null: all'),
        state: z
          .enum(['building', 'ready', 'failed'])
          .describe('failed: the quota was full before all words were in it'),
      })
      .nullable()
      .describe('Of lists by words; null where it is off'),
    schema: recordSchema.nullable().describe('What records have to be; null: anything'),
    limits: collectionLimits.nullable().describe('Of what callers make; null where there are none'),
    history: z.boolean().describe('Whether changes of its records are kept for some days'),
    limitsState: z
      .enum(['building', 'ready'])
      .optional()
      .describe(
        'Where `perUser` is set; building: the records from before are still being counted',
      ),
  })
  .meta({ id: 'Collection' });

export const listCollections = defineRoute({
  ...platform,
  operationId: 'listCollections',
  method: 'GET',
  path: '/projects/:projectId/collections',
  summary: 'Collections of a project with their access and size',
  limit: 'read',
  params: z.object({ projectId: idInPath }),
  response: z.object({
    items: z.array(collection),
    hasMore: z.boolean(),
    nextCursor: z.string().nullable(),
    totalRecords: z.int().min(0),
    totalBytes: z.int().min(0),
    quotaRecords: z.int().min(0),
    quotaBytes: z.int().min(0),
    owner: z
      .object({
        totalRecords: z.int().min(0),
        totalBytes: z.int().min(0),
        quotaRecords: z.int().min(0),
        quotaBytes: z.int().min(0),
      })
      .nullable()
      .describe('Of all projects of the owner; null where the project has none'),
  }),
  status: 200,
  errors: ['not_found'],
});

/** Of the path of a field that has an index: the list of collections shows them all. */
export const maxFieldPath = 300;

const fieldPath = z.string({ error: 'must be the name of one field' }).max(maxFieldPath);

/** How many fields can be unique together. */
const maxTogether = 4;

export const setCollectionAccess = defineRoute({
  ...platform,
  operationId: 'setCollectionAccess',
  method: 'PUT',
  path: '/projects/:projectId/collections/:collection',
  summary:
    'Set who may read and change a collection, what its records have to be, which fields are always indexed and which are unique; creates it when it is missing',
  limit: 'write',
  params: z.object({ projectId: idInPath, collection: collectionName }),
  body: z.strictObject({
    access: collectionAccess.optional(),
    indexes: z
      .array(fieldPath)
      .max(6)
      .optional()
      .describe('Fields; they replace those from before'),
    unique: z
      .array(
        z.union([fieldPath, z.array(fieldPath).min(2).max(maxTogether)], {
          error: `must be a field, or a list of 2 to ${maxTogether} fields that are unique together`,
        }),
      )
      .max(3)
      .optional()
      .describe(
        'Fields of which no two records may have the same value, or lists of fields of which no two may have the same values together; they replace those from before',
      ),
    search: z
      .union([z.boolean(), z.array(fieldPath).min(1).max(10)], {
        error:
          'must be true (all fields), false or 1 to 10 names of fields, each of at most 300 letters',
      })
      .optional()
      .describe('Whether lists can be searched by words: of all fields (true), of these, or not'),
    onErase: onErase
      .nullable()
      .optional()
      .describe(
        'When the account of a user is erased, their records are deleted, kept, or left to nobody under an id of its own each. Unless set, or with null: deleted where nobody but their owner reads them, else kept',
      ),
    schema: recordSchema
      .nullable()
      .optional()
      .describe('What records have to be, in place of that from before; null: anything'),
    limits: limitsChange
      .nullish()
      .describe('Limits that change: null takes one away, or, in place of the object, all'),
    history: z
      .boolean()
      .optional()
      .describe(
        'Whether changes of its records are kept for some days (true unless set): without them there is no history, undo, change feed, live list or webhook of it',
      ),
  }),
  response: collection,
  status: 200,
  errors: ['invalid_path', 'invalid_body', 'not_found', 'collection_limit', 'conflict'],
});

export const renameCollection = defineRoute({
  ...platform,
  operationId: 'renameCollection',
  method: 'PATCH',
  path: '/projects/:projectId/collections/:collection',
  summary: 'Rename a collection; what names it elsewhere, as rules of payments do, stays as it is',
  limit: 'write',
  params: z.object({ projectId: idInPath, collection: collectionName }),
  body: z.strictObject({ name: collectionName }),
  response: collection,
  status: 200,
  errors: ['invalid_path', 'invalid_body', 'not_found', 'conflict'],
});

export const deleteCollection = defineRoute({
  ...platform,
  operationId: 'deleteCollection',
  method: 'DELETE',
  path: '/projects/:projectId/collections/:collection',
  summary: 'Delete a collection with its records, or its records alone',
  limit: 'write',
  params: z.object({ projectId: idInPath, collection: collectionName }),
  query: z.object({
    empty: z
      .enum(['1', '0', 'true', 'false', ''])
      .optional()
      .describe('1: the collection stays, with its settings and without its records'),
    dryRun: z
      .enum(['1', '0', 'true', 'false', ''])
      .optional()
      .describe('1: only counts what would be gone, and says until when it could come back'),
  }),
  response: z.object({
    ok: z.literal(true),
    count: z.int().min(0).describe('Records that it had: gone for everybody'),
    keptUntil: timestamp
      .nullable()
      .describe(
        'Until when restoreCollection or an undo brings it back; null: it is erased at once',
      ),
    dryRun: z.literal(true).optional(),
  }),
  status: 200,
  errors: ['invalid_path', 'invalid_query', 'not_found', 'conflict'],
});
