import { z } from 'zod';
import { defineRoute, recordBodyLimitBytes } from '../../define-route.ts';
import { ok } from '../../schemas.ts';
import {
  base,
  change,
  changesSomething,
  data,
  groupId,
  inCollection,
  needsChange,
  oneRecord,
  record,
  shown,
  shownRecord,
} from './schemas/record-schemas.ts';

export const getRecord = defineRoute({
  ...base,
  operationId: 'getRecord',
  method: 'GET',
  path: '/db/:collection/:id',
  summary: 'Read one record',
  limit: 'read',
  params: oneRecord,
  query: z.object(shown),
  response: shownRecord,
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
    'schema_mismatch',
    'collection_limit',
    'collection_creation_off',
    'forbidden',
    'quota_reached',
    'limit_reached',
    'not_unique',
  ],
});

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
    'schema_mismatch',
    'not_found',
    'forbidden',
    'precondition_failed',
    'quota_reached',
    'limit_reached',
    'not_unique',
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
      .describe(
        '1: create the record where there is none; its id is then a new UUIDv7, or that of the user who calls',
      ),
  }),
  body: z.object({ data }),
  bodyLimitBytes: recordBodyLimitBytes,
  response: record,
  status: 200,
  otherStatus: { status: 201, when: 'Created, by `upsert`' },
  errors: [
    'invalid_path',
    'invalid_body',
    'invalid_data',
    'schema_mismatch',
    'invalid_query',
    'not_found',
    'forbidden',
    'precondition_failed',
    'collection_limit',
    'collection_creation_off',
    'quota_reached',
    'limit_reached',
    'not_unique',
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
