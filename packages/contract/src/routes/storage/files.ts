import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, listOf, listQuery, ok, timestamp, uuid } from '../../schemas.ts';
import { listed } from './stored-file.ts';

const maxSignedSeconds = 7 * 24 * 3600;

const filesQuery = listQuery.extend({
  group: uuid.optional().describe('All files of this group'),
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
  query: filesQuery,
  response: listOf(listed),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor', 'not_found'],
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

export const deleteFile = defineRoute({
  ...base,
  operationId: 'deleteFile',
  method: 'DELETE',
  path: '/storage/files/:id',
  summary: 'Delete a file',
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
  query: filesQuery,
  response: listOf(listed).extend({
    totalFiles: z.int().min(0),
    totalBytes: z.int().min(0),
    quotaBytes: z.int().min(0),
  }),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor'],
});
