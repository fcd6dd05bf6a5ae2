import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, idsInQuery, listOf, listQuery, ok, timestamp, uuid } from '../../schemas.ts';
import { email } from '../../texts/email-address.ts';
import { linkedIdentity } from '../oauth/identities.ts';
import { factor } from './factors.ts';
import { passkey } from './passkeys.ts';
import { signInEvent } from './sign-in-events.ts';
import { blockFields, listedUser, name, roleName, user } from './user.ts';
import { userSession } from './user-sessions.ts';

const platform = {
  service: 'auth',
  plane: 'platform',
  callers: ['owner', 'key', 'operator'],
} as const;

const usersQuery = listQuery.extend({
  email: email.optional(),
  q: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('How the address or the name begins, in any case'),
  status: z
    .enum(['verified', 'unverified', 'blocked', 'guest'])
    .optional()
    .describe('Of the address, or of the account'),
  role: roleName.optional(),
  sort: z
    .enum(['createdAt', '-createdAt', 'email', '-email'])
    .default('-createdAt')
    .describe('By email: those who have one'),
});

export const listUsers = defineRoute({
  ...platform,
  operationId: 'listUsers',
  method: 'GET',
  path: '/projects/:projectId/users',
  summary: 'Users of a project, newest first unless `sort` says otherwise',
  limit: 'read',
  params: z.object({ projectId: idInPath }),
  query: usersQuery.extend({
    ids: idsInQuery(100).optional().describe('Up to 100 ids, separated by commas: those alone'),
  }),
  response: listOf(listedUser),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor', 'not_found'],
});

export const getUser = defineRoute({
  ...platform,
  operationId: 'getUser',
  method: 'GET',
  path: '/projects/:projectId/users/:userId',
  summary: 'A user of a project, with their profile',
  limit: 'read',
  params: z.object({ projectId: idInPath, userId: idInPath }),
  response: user,
  status: 200,
  errors: ['not_found'],
});

export const exportUser = defineRoute({
  ...platform,
  callers: ['owner', 'operator'],
  operationId: 'exportUser',
  operatorScope: 'support',
  memberRole: 'admin',
  method: 'GET',
  path: '/projects/:projectId/users/:userId/export',
  summary:
    'All that is kept of the account of a user; their records, files, mails and payments have lists of their own',
  limit: 'read',
  params: z.object({ projectId: idInPath, userId: idInPath }),
  response: z.object({
    user,
    factors: z.array(factor),
    passkeys: z.array(passkey),
    identities: z.array(linkedIdentity.omit({ id: true })),
    sessions: z.array(userSession.omit({ id: true })),
    signInEvents: z.array(signInEvent.omit({ id: true })),
    groups: z.array(
      z.object({ id: uuid, name: z.string(), role: z.string(), joinedAt: timestamp }),
    ),
  }),
  status: 200,
  errors: ['not_found'],
});

export const updateUser = defineRoute({
  ...platform,
  operationId: 'updateUser',
  method: 'PATCH',
  path: '/projects/:projectId/users/:userId',
  summary: "Set a user's name, role or verified state, or block them",
  limit: 'write',
  params: z.object({ projectId: idInPath, userId: idInPath }),
  body: z.strictObject({
    name: name.nullable().optional(),
    role: roleName.optional(),
    emailVerified: z.boolean().optional(),
    ...blockFields,
  }),
  response: user,
  status: 200,
  errors: ['invalid_body', 'owner_unverified', 'not_found'],
});

export const deleteUser = defineRoute({
  ...platform,
  operationId: 'deleteUser',
  method: 'DELETE',
  path: '/projects/:projectId/users/:userId',
  summary: 'Erase a user and their sessions',
  limit: 'write',
  params: z.object({ projectId: idInPath, userId: idInPath }),
  response: ok,
  status: 200,
  errors: ['not_found', 'conflict'],
});

export const listOwners = defineRoute({
  ...platform,
  callers: ['operator'],
  operationId: 'listOwners',
  method: 'GET',
  path: '/owners',
  summary: 'All owners, newest first unless `sort` says otherwise',
  limit: 'read',
  query: usersQuery,
  response: listOf(listedUser),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor'],
});
