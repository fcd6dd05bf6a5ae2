import { z } from 'zod';
import { defineRoute } from '../define-route.ts';
import { idInPath, listOf, ok, timestamp, uuid } from '../schemas.ts';
import { collectionName } from './records.ts';

/** docs/api.md, "Shares". */
export const maxShares = 100;

const share = z.object({
  userId: uuid,
  may: z.enum(['read', 'change']),
  createdAt: timestamp,
});
export type Share = z.infer<typeof share>;

const base = {
  service: 'records',
  plane: 'runtime',
  path: '/db/:collection/:id/_shares',
  callers: ['user', 'owner', 'key', 'operator'],
} as const;
const oneRecord = z.object({ collection: collectionName, id: idInPath });

export const shareRecord = defineRoute({
  ...base,
  operationId: 'shareRecord',
  method: 'PUT',
  summary: 'Share a record of one’s own with a user, in a collection whose rules say "shared"',
  limit: 'write',
  params: oneRecord,
  body: z.object({ userId: uuid, may: share.shape.may }),
  response: share,
  status: 200,
  errors: ['invalid_path', 'invalid_body', 'not_found', 'forbidden', 'conflict', 'quota_reached'],
});

export const listShares = defineRoute({
  ...base,
  operationId: 'listShares',
  method: 'GET',
  summary: 'With whom a record of one’s own is shared',
  limit: 'read',
  params: oneRecord,
  response: listOf(share),
  status: 200,
  errors: ['invalid_path', 'not_found', 'forbidden'],
});

export const unshareRecord = defineRoute({
  ...base,
  operationId: 'unshareRecord',
  method: 'DELETE',
  path: '/db/:collection/:id/_shares/:userId',
  summary: 'End a share: of a record of one’s own, or with oneself',
  limit: 'write',
  params: oneRecord.extend({ userId: idInPath }),
  response: ok,
  status: 200,
  errors: ['invalid_path', 'not_found', 'forbidden'],
});
