import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { email } from '../../email-address.ts';
import { idInPath, listOf, listQuery, ok } from '../../schemas.ts';
import { listedUser, name, roleName, user } from './user.ts';

const platform = {
  service: 'auth',
  plane: 'platform',
  callers: ['owner', 'key', 'operator'],
} as const;

const usersQuery = listQuery.extend({
  email: email.optional(),
  status: z.enum(['verified', 'unverified']).optional().describe('Of the address'),
  role: roleName.optional(),
  sort: z.enum(['createdAt', '-createdAt', 'email', '-email']).default('-createdAt'),
});

export const listUsers = defineRoute({
  ...platform,
  operationId: 'listUsers',
  method: 'GET',
  path: '/projects/:projectId/users',
  summary: 'Users of a project, newest first unless `sort` says otherwise',
  limit: 'read',
  params: z.object({ projectId: idInPath }),
  query: usersQuery,
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

export const updateUser = defineRoute({
  ...platform,
  operationId: 'updateUser',
  method: 'PATCH',
  path: '/projects/:projectId/users/:userId',
  summary: "Set a user's name, role or verified state",
  limit: 'write',
  params: z.object({ projectId: idInPath, userId: idInPath }),
  body: z.strictObject({
    name: name.nullable().optional(),
    role: roleName.optional(),
    emailVerified: z.boolean().optional(),
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
