import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, listOf, listQuery, ok, timestamp, uuid, visibleText } from '../../schemas.ts';
import { collectionName } from './schemas/record-schemas.ts';

/** docs/api.md, "Moderation". */
export const maxReports = { record: 100, project: 10_000, userPerHour: 20 };

const report = z
  .object({
    recordId: uuid,
    ownerId: uuid.nullable().describe('Whose record it is'),
    userId: uuid.describe('Who reports it'),
    reason: z.string(),
    createdAt: timestamp,
  })
  .meta({ id: 'Report' });
export type Report = z.infer<typeof report>;

const base = { service: 'records', plane: 'runtime' } as const;
const moderators = ['user', 'owner', 'key', 'operator'] as const;
const oneRecord = z.object({ collection: collectionName, id: idInPath });

export const reportRecord = defineRoute({
  ...base,
  operationId: 'reportRecord',
  method: 'POST',
  path: '/db/:collection/:id/_report',
  summary: 'Tell who moderates the app of a record; another report of the same user is replaced',
  callers: ['user'],
  limit: 'write',
  params: oneRecord,
  body: z.strictObject({ reason: visibleText(1000) }),
  response: ok,
  status: 201,
  errors: ['invalid_path', 'invalid_body', 'not_found', 'quota_reached', 'rate_limited'],
});

export const listReports = defineRoute({
  ...base,
  operationId: 'listReports',
  method: 'GET',
  path: '/db/:collection/_reports',
  summary: 'What users have reported, newest first; for a role with the power block-users',
  callers: moderators,
  limit: 'read',
  params: z.object({ collection: collectionName }),
  query: listQuery,
  response: listOf(report),
  status: 200,
  errors: ['invalid_path', 'invalid_query', 'invalid_cursor', 'forbidden'],
});

export const dismissReports = defineRoute({
  ...base,
  operationId: 'dismissReports',
  operatorScope: 'support',
  method: 'DELETE',
  path: '/db/:collection/:id/_report',
  summary: 'Take the reports of a record off the list; for a role with the power block-users',
  callers: moderators,
  limit: 'write',
  params: oneRecord,
  response: ok,
  status: 200,
  errors: ['invalid_path', 'forbidden', 'not_found'],
});
