import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { displayName, idInPath } from '../../schemas.ts';
import { project } from './projects.ts';

const base = { service: 'projects', plane: 'platform', callers: ['owner'] } as const;

const oneProject = z.object({ projectId: idInPath });

const asOf = z.iso
  .datetime()
  .describe('Records as they were then, as far as the log of changes goes; all else as it is now');

const flag = z.enum(['1', '0', 'true', 'false', '']).optional();

/** Files of 5 GiB among them; what is taken is bounded by the quotas of records and files. */
const maxArchiveBytes = 64 * 1024 ** 3;

export const newProject = z
  .object({
    project,
    left: z
      .array(z.object({ entry: z.string(), reason: z.string() }))
      .describe('Entries of the config that a new project can not have yet'),
  })
  .meta({ id: 'ImportedProject' });

export type ImportedProject = z.input<typeof newProject>;

const takingErrors = [
  'invalid_body',
  'project_limit',
  'quota_reached',
  'storage_quota',
  'collection_limit',
  'group_limit',
  'conflict',
  'overloaded',
  'unavailable',
] as const;

export const exportProject = defineRoute({
  ...base,
  operationId: 'exportProject',
  capability: 'every',
  memberRole: 'admin',
  method: 'GET',
  path: '/projects/:projectId/export',
  summary: 'All of a project as a tar: users, records, its config, what files there are',
  limit: 'read',
  params: oneProject,
  query: z.object({
    files: flag.describe('1: the files too, not their list alone'),
    passwords: flag.describe('1: the hashes of passwords too'),
    asOf: asOf.optional(),
  }),
  response: z.unknown(),
  answers: 'file',
  status: 200,
  errors: ['invalid_query', 'not_found', 'conflict', 'overloaded', 'unavailable'],
});

export const importProject = defineRoute({
  ...base,
  operationId: 'importProject',
  method: 'POST',
  path: '/projects/import',
  summary: 'Make a project from such a tar, whole or not at all',
  limit: 'upload',
  takes: 'bytes',
  bodyTypes: ['application/x-tar'],
  lastsWhileBodyComes: true,
  query: z.object({ name: displayName(100).optional().describe('Unless stated its former one') }),
  body: z.file(),
  bodyLimitBytes: maxArchiveBytes,
  response: newProject,
  status: 201,
  errors: ['invalid_query', ...takingErrors, 'request_timeout'],
});

export const copyProject = defineRoute({
  ...base,
  callers: ['owner', 'operator'],
  operationId: 'copyProject',
  capability: 'every',
  method: 'POST',
  path: '/projects/:projectId/copy',
  summary:
    'Make a project of the same owner with the same config and, where asked, users, records, also of a time, and files',
  limit: 'upload',
  params: oneProject,
  body: z.strictObject({
    name: displayName(100),
    records: z.boolean().optional().describe('With the users and groups whose they are'),
    files: z.boolean().optional(),
    passwords: z.boolean().optional().describe('Users of the copy sign in as they do here'),
    asOf: asOf.optional(),
  }),
  response: newProject,
  status: 201,
  errors: ['not_found', ...takingErrors],
});
