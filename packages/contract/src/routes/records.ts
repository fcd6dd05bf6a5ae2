import { z } from 'zod';
import { defineRoute, MIB, recordBodyLimitBytes } from '../define-route.ts';
import { idInPath, isUuid, ok, timestamp, uuid } from '../schemas.ts';
import { collectionAccess } from './access.ts';

/** docs/api.md, "Records". */
export const collectionName = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_-]{0,62}$/,
    'must be 1-63 of A-Z, a-z, 0-9, _ and -, starting with a letter',
  );

export const record = z.looseObject({
  id: uuid,
  ownerId: uuid.nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
});

/** What `data` may hold in depth is the record service's rule. */
const data = z.record(z.string(), z.unknown(), 'must be an object, as in {"data":{"title":"x"}}');
const groupId = uuid
  .optional()
  .describe('A group of the caller’s, where the rules of the collection name groups');
/** Numbers as a browser sends them; `limit` above 1,000 is clamped. */
const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number of 0 or more')
  .transform(Number);

const base = {
  service: 'records',
  plane: 'runtime',
  callers: ['anonymous', 'user', 'owner', 'key', 'operator'],
} as const;
const inCollection = z.object({ collection: collectionName });
const oneRecord = z.object({ collection: collectionName, id: idInPath });

const filter = {
  where: z.string().optional().describe('JSON: a filter in the subset of MongoDB’s query language'),
  mine: z
    .enum(['1', '0', 'true', 'false', ''])
    .optional()
    .describe('1: only the caller’s own records'),
  group: uuid.optional().describe('Only records of this group'),
};

const shown = {
  fields: z
    .string()
    .max(4096)
    .optional()
    .describe('Shows these fields and the id alone: title,done'),
  include: z
    .string()
    .max(512)
    .optional()
    .describe(
      'Shows records of other collections in place of their ids, one level deep: authorId, or author:people',
    ),
};

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
    sort: z
      .string()
      .max(1024)
      .optional()
      .describe('Up to 3 comma-separated fields, - before one for descending'),
    limit: wholeNumber.transform((n) => Math.min(n, 1000)).default(100),
    offset: wholeNumber.default(0),
    cursor: z.string().max(8192).optional(),
    ...shown,
    total: z
      .enum(['1', '0', 'true', 'false', ''])
      .optional()
      .describe('1: with the count of all records that fit'),
  }),
  response: z.object({
    items: z.array(z.looseObject({ id: uuid })),
    hasMore: z.boolean(),
    nextCursor: z.string().nullable(),
    total: z.int().min(0).optional(),
    approximate: z.literal(true).optional().describe('The total is an estimate'),
  }),
  status: 200,
  errors: [
    'invalid_path',
    'invalid_query',
    'invalid_where',
    'invalid_sort',
    'invalid_cursor',
    'query_too_expensive',
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
  query: z.object(filter),
  response: z.object({ count: z.number().int().min(0), approximate: z.literal(true).optional() }),
  status: 200,
  errors: ['invalid_path', 'invalid_query', 'invalid_where'],
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
  }),
  status: 200,
  errors: ['invalid_path', 'invalid_query', 'invalid_where', 'query_too_expensive'],
});

export const getRecord = defineRoute({
  ...base,
  operationId: 'getRecord',
  method: 'GET',
  path: '/db/:collection/:id',
  summary: 'Read one record',
  limit: 'read',
  params: oneRecord,
  query: z.object(shown),
  response: z.looseObject({ id: uuid }),
  status: 200,
  errors: ['invalid_path', 'invalid_query', 'not_found', 'query_too_expensive'],
});

export const createRecord = defineRoute({
  ...base,
  operationId: 'createRecord',
  unknownBody: 'hinted',
  method: 'POST',
  path: '/db/:collection',
  summary: 'Create a record; the first one creates the collection',
  limit: 'write',
  params: inCollection,
  body: z.object({ data, groupId }),
  bodyLimitBytes: recordBodyLimitBytes,
  response: record,
  status: 201,
  errors: [
    'invalid_path',
    'invalid_body',
    'invalid_data',
    'collection_limit',
    'collection_creation_off',
    'forbidden',
    'quota_reached',
  ],
});

const change = z.object({
  data: data.optional(),
  unset: z.array(z.string().min(1)).max(1024).optional(),
  inc: z.record(z.string(), z.number()).optional(),
});
const changesSomething = ({ data, unset, inc }: z.infer<typeof change>) =>
  Boolean(data || unset || inc);
const needsChange = 'needs "data", "unset" or "inc"';

export const updateRecord = defineRoute({
  ...base,
  operationId: 'updateRecord',
  unknownBody: 'hinted',
  method: 'PATCH',
  path: '/db/:collection/:id',
  summary: 'Merge fields into a record, remove some, add to numbers',
  limit: 'write',
  params: oneRecord,
  query: z.object({
    merge: z
      .enum(['deep', 'shallow'])
      .default('shallow')
      .describe('deep: objects are merged at all levels and null removes (RFC 7396)'),
  }),
  body: change.refine(changesSomething, needsChange),
  bodyLimitBytes: recordBodyLimitBytes,
  response: record,
  status: 200,
  errors: [
    'invalid_path',
    'invalid_query',
    'invalid_body',
    'invalid_data',
    'not_found',
    'forbidden',
    'precondition_failed',
    'quota_reached',
  ],
});

export const replaceRecord = defineRoute({
  ...base,
  operationId: 'replaceRecord',
  unknownBody: 'hinted',
  method: 'PUT',
  path: '/db/:collection/:id',
  summary: 'Replace the data of a record',
  limit: 'write',
  params: oneRecord,
  query: z.object({
    upsert: z
      .enum(['1', '0', 'true', 'false', ''])
      .optional()
      .describe('1: create the record where there is none; its id is then a new UUIDv7'),
  }),
  body: z.object({ data }),
  bodyLimitBytes: recordBodyLimitBytes,
  response: record,
  status: 200,
  errors: [
    'invalid_path',
    'invalid_body',
    'invalid_data',
    'invalid_query',
    'not_found',
    'forbidden',
    'precondition_failed',
    'collection_limit',
    'collection_creation_off',
    'quota_reached',
  ],
});

/** docs/api.md, "Batches". */
export const maxBatchOperations = 500;
const written = z.object({ id: uuid, updatedAt: timestamp });
const operations = {
  create: z.array(z.object({ data, groupId })).default([]),
  update: z.array(change.extend({ id: uuid }).refine(changesSomething, needsChange)).default([]),
  delete: z.array(uuid).default([]),
};

export const writeBatch = defineRoute({
  ...base,
  operationId: 'writeBatch',
  method: 'POST',
  path: '/db/:collection/_batch',
  summary: 'Create, update and delete up to 500 records, all or none',
  limit: 'write',
  weight: { itemsPerCall: 20, maxCalls: maxBatchOperations / 20 },
  params: inCollection,
  body: z.object(operations).refine((batch) => {
    const count = batch.create.length + batch.update.length + batch.delete.length;
    return count >= 1 && count <= maxBatchOperations;
  }, `needs 1 to ${maxBatchOperations} operations in "create", "update" and "delete" together`),
  bodyLimitBytes: 8 * MIB,
  response: z.object({
    create: z.array(written),
    update: z.array(written),
    delete: z.array(z.object({ id: uuid })),
  }),
  status: 200,
  errors: [
    'invalid_path',
    'invalid_body',
    'invalid_data',
    'not_found',
    'forbidden',
    'collection_limit',
    'collection_creation_off',
    'quota_reached',
  ],
});

export const deleteRecord = defineRoute({
  ...base,
  operationId: 'deleteRecord',
  method: 'DELETE',
  path: '/db/:collection/:id',
  summary: 'Delete a record',
  limit: 'write',
  params: oneRecord,
  response: ok,
  status: 200,
  errors: ['invalid_path', 'not_found', 'forbidden', 'precondition_failed'],
});

const platform = {
  service: 'records',
  plane: 'platform',
  callers: ['owner', 'key', 'operator'],
} as const;

export const collection = z.object({
  name: z.string(),
  access: collectionAccess.describe('The name of a preset, or rules'),
  advice: z.string().optional().describe('What its owner should know of its access'),
  count: z.number().int().min(0),
  sizeBytes: z.number().int().min(0).describe('Of the documents as JSON'),
  createdAt: timestamp,
  indexes: z.array(
    z.object({
      field: z.string(),
      state: z.enum(['building', 'ready', 'dropping']).describe('Only a ready one answers lists'),
      isPinned: z.boolean().describe('Asked for by the owner; others follow from the lists'),
      uses: z.int().min(0).describe('Lists and counts that it has answered'),
      lastUsedAt: timestamp.nullable(),
    }),
  ),
});

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
  }),
  status: 200,
  errors: ['not_found'],
});

export const setCollectionAccess = defineRoute({
  ...platform,
  operationId: 'setCollectionAccess',
  method: 'PUT',
  path: '/projects/:projectId/collections/:collection',
  summary:
    'Set who may read and change a collection and which fields are always indexed; creates it when it is missing',
  limit: 'write',
  params: z.object({ projectId: idInPath, collection: collectionName }),
  body: z.strictObject({
    access: collectionAccess.optional(),
    indexes: z
      .array(z.string())
      .max(6)
      .optional()
      .describe('Fields; they replace those from before'),
  }),
  response: collection,
  status: 200,
  errors: ['invalid_path', 'invalid_body', 'not_found', 'collection_limit'],
});

const decision = z.object({
  allowed: z.enum(['yes', 'no', 'depends']).describe('depends: on the record'),
  by: z.array(z.string()).describe('The words of the rule that hold, or may hold'),
  rule: z.array(z.string()),
});

export const checkAccess = defineRoute({
  ...platform,
  operationId: 'checkAccess',
  method: 'GET',
  path: '/projects/:projectId/access-check',
  summary: 'What a caller may do in a collection or with a record, and by which rule',
  limit: 'read',
  params: z.object({ projectId: idInPath }),
  query: z.object({
    as: z
      .string()
      .refine(
        (as) => as === 'anonymous' || (as.startsWith('user:') && isUuid(as.slice(5))),
        'must be "anonymous" or "user:<id>"',
      ),
    role: z
      .string()
      .max(32)
      .default('user')
      .describe('Which the user has; the project’s list of users shows it'),
    groups: z
      .string()
      .transform((ids) => ids.split(','))
      .refine(
        (ids) => ids.length <= 100 && ids.every(isUuid),
        'must be at most 100 ids of groups with commas between them',
      )
      .optional()
      .describe('That the user is in'),
    collection: collectionName,
    record: z.string().optional().describe('Its id; without one the answer is about any record'),
  }),
  response: z.object({
    as: z.string(),
    collection: z.string(),
    access: collectionAccess,
    read: decision,
    create: decision,
    change: decision,
    delete: decision,
    fields: z.record(z.string(), z.object({ read: decision, create: decision, change: decision })),
  }),
  status: 200,
  errors: ['invalid_query', 'not_found'],
});
