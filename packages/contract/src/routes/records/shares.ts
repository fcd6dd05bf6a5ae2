import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, listOf, ok, timestamp, uuid } from '../../schemas.ts';
import { email } from '../../texts/email-address.ts';
import { collectionName } from './schemas/record-schemas.ts';

/** docs/api.md, "Shares". */
export const maxShares = 100;
/** With addresses: of one user, and of a project. */
export const maxEmailShares = { user: 1000, project: 100_000 };

const share = z
  .object({
    userId: uuid.optional(),
    email: z.string().optional().describe('Instead of userId, where it was shared with an address'),
    may: z.enum(['read', 'change']),
    createdAt: timestamp,
  })
  .meta({ id: 'Share' });
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
  summary:
    'Share a record of one’s own with a user or an e-mail address, in a collection whose rules say "shared"',
  limit: 'write',
  params: oneRecord,
  body: z
    .object({
      userId: uuid.optional(),
      email: email.optional().describe('Of somebody who has an account, or will have one'),
      may: share.shape.may,
    })
    .refine(
      (body) => (body.userId === undefined) !== (body.email === undefined),
      'needs "userId" or "email"',
    ),
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
  params: oneRecord.extend({
    userId: idInPath.describe('Id, or e-mail address, as it was shared'),
  }),
  response: ok,
  status: 200,
  errors: ['invalid_path', 'not_found', 'forbidden'],
});
