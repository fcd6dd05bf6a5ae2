import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, listOf, listQuery } from '../../schemas.ts';

const ownedRecord = z.object({
  collection: z.string(),
  record: z.record(z.string(), z.unknown()).describe('As GET /db/<collection>/<id> answers it'),
});
export type OwnedRecord = z.infer<typeof ownedRecord>;

export const listOwnedRecords = defineRoute({
  service: 'records',
  plane: 'platform',
  callers: ['owner', 'operator'],
  operationId: 'listOwnedRecords',
  method: 'GET',
  path: '/projects/:projectId/users/:userId/records',
  summary:
    'All records of a user, collection by collection; a page may be short, and even empty, while hasMore is true',
  limit: 'read',
  params: z.object({ projectId: idInPath, userId: idInPath }),
  query: listQuery,
  response: listOf(ownedRecord),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor', 'overloaded'],
});
