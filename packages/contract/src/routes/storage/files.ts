import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, listOf, listQuery, ok, timestamp, uuid } from '../../schemas.ts';
import { collectionName } from '../records/schemas/record-schemas.ts';
import { listed, visibility } from './stored-file.ts';

const maxSignedSeconds = 7 * 24 * 3600;

const filesQuery = listQuery.extend({
  group: uuid.optional().describe('All files of this group'),
});

const maxIds = 100;

const ownQuery = filesQuery.extend({
  ids: z
    .string()
    .min(1)
    .max(maxIds * 37)
    .transform((ids) => ids.split(','))
    .refine((ids) => ids.length <= maxIds, `takes at most ${maxIds} ids`)
    .optional()
    .describe(
      `Whosever these are, up to ${maxIds} ids with commas: for a role with the power delete-files`,
    ),
});

const base = { service: 'storage', plane: 'runtime' } as const;

const oneFile = z.object({ id: idInPath });

const changedBy = ['user', 'owner', 'key', 'operator'] as const;

export const listFiles = defineRoute({
  ...base,
  operationId: 'listFiles',
  method: 'GET',
  path: '/storage/files',
  summary: 'Own files, or those of a group, newest first',
  callers: ['user'],
  limit: 'read',
  query: ownQuery,
  response: listOf(listed),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor', 'forbidden', 'not_found'],
});

export const signFile = defineRoute({
  ...base,
  operationId: 'signFile',
  method: 'POST',
  path: '/storage/files/:id/sign',
  summary: 'An address that opens a file for a while, to whoever has it',
  callers: changedBy,
  limit: 'write',
  params: oneFile,
  body: z.object({ expiresIn: z.int().min(1).max(maxSignedSeconds).describe('Seconds') }),
  response: z.object({ url: z.string(), expiresAt: timestamp }),
  status: 200,
  errors: ['invalid_body', 'not_found', 'forbidden'],
});

export const attachFile = defineRoute({
  ...base,
  operationId: 'attachFile',
  method: 'POST',
  path: '/storage/files/:id/attach',
  summary: 'Open an own file to those who may read a record; with null for recordId to nobody else',
  callers: changedBy,
  limit: 'write',
  params: oneFile,
  body: z
    .object({
      collection: collectionName.default(''),
      recordId: uuid.nullable().describe('A record that the caller may change'),
      visibility: visibility.default('private'),
    })
    .refine(({ collection, recordId }) => recordId === null || collection !== '', {
      path: ['collection'],
      message: 'must name the collection of the record',
    }),
  response: z.object({ id: uuid, recordId: uuid.nullable(), visibility }),
  status: 200,
  errors: ['invalid_body', 'not_found', 'forbidden'],
});

export const deleteFile = defineRoute({
  ...base,
  operationId: 'deleteFile',
  method: 'DELETE',
  path: '/storage/files/:id',
  summary: 'Delete a file: its own, or any by a role with the power delete-files',
  callers: changedBy,
  limit: 'write',
  params: oneFile,
  response: ok,
  status: 200,
  errors: ['not_found', 'forbidden'],
});

export const listProjectFiles = defineRoute({
  operationId: 'listProjectFiles',
  service: 'storage',
  plane: 'platform',
  method: 'GET',
  path: '/projects/:projectId/files',
  summary: 'All files of a project, newest first, with their totals',
  callers: ['owner', 'key', 'operator'],
  limit: 'read',
  params: z.object({ projectId: idInPath }),
  query: filesQuery.extend({ owner: uuid.optional().describe('All files of this user') }),
  response: listOf(listed).extend({
    totalFiles: z.int().min(0),
    totalBytes: z.int().min(0),
    quotaBytes: z.int().min(0),
  }),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor'],
});

export const listFileTypes = defineRoute({
  operationId: 'listFileTypes',
  service: 'storage',
  plane: 'platform',
  method: 'GET',
  path: '/projects/:projectId/file-types',
  summary: 'How many files of which type a project has, the largest together first',
  callers: ['owner', 'key', 'operator'],
  limit: 'read',
  params: z.object({ projectId: idInPath }),
  response: listOf(
    z
      .object({
        type: z.string().nullable().describe('null: all others together'),
        files: z.int().min(0),
        bytes: z.int().min(0),
      })
      .meta({ id: 'FilesOfType' }),
  ),
  status: 200,
  errors: ['not_found'],
});
