import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { displayName, idInPath, listOf, listQuery, ok, timestamp, uuid } from '../../schemas.ts';
import { roleName } from '../auth/user.ts';

/** docs/api.md, "Groups". */
export const maxGroupsPerUser = 100;

const name = displayName(100);

export const groupRole = roleName.describe(
  '"owner" and "admin" manage the group; what other roles mean is up to the app',
);

export const group = z
  .object({
    id: uuid,
    name: z.string(),
    role: z.string().nullable().describe('What the caller is in it; null for who is no member'),
    createdAt: timestamp,
  })
  .meta({ id: 'Group' });

export type Group = z.infer<typeof group>;

/** What all routes of groups share. */
export const groupRoute = {
  service: 'auth',
  plane: 'runtime',
  callers: ['user', 'owner', 'key', 'operator'],
} as const;

export const oneGroup = z.object({ groupId: idInPath });

export const createGroup = defineRoute({
  ...groupRoute,
  operationId: 'createGroup',
  method: 'POST',
  path: '/groups',
  summary:
    'Create a group; the user who calls becomes its owner, or whom the project’s own callers name',
  limit: 'write',
  changesCaller: true,
  body: z.object({
    name,
    ownerId: uuid
      .optional()
      .describe(
        'Of the user who becomes its owner. For the project’s owner, keys and the operator, who may leave it out: then the group has no member yet',
      ),
  }),
  response: group,
  status: 201,
  errors: ['invalid_body', 'forbidden', 'group_limit', 'too_many_attempts'],
});

export const listGroups = defineRoute({
  ...groupRoute,
  operationId: 'listGroups',
  method: 'GET',
  path: '/groups',
  summary: 'The groups of the user who calls, or all of the project to its owner, newest first',
  limit: 'read',
  query: listQuery,
  response: listOf(group),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor'],
});

export const getGroup = defineRoute({
  ...groupRoute,
  operationId: 'getGroup',
  method: 'GET',
  path: '/groups/:groupId',
  summary: 'One group, to its members and the project’s own callers',
  limit: 'read',
  params: oneGroup,
  response: group,
  status: 200,
  errors: ['not_found'],
});

export const updateGroup = defineRoute({
  ...groupRoute,
  operationId: 'updateGroup',
  method: 'PATCH',
  path: '/groups/:groupId',
  summary: 'Rename a group',
  limit: 'write',
  params: oneGroup,
  body: z.object({ name }),
  response: group,
  status: 200,
  errors: ['invalid_body', 'not_found', 'forbidden'],
});

export const deleteGroup = defineRoute({
  ...groupRoute,
  operationId: 'deleteGroup',
  method: 'DELETE',
  path: '/groups/:groupId',
  summary: 'Delete a group; its records and files stay, and are no group’s any more',
  limit: 'write',
  changesCaller: true,
  params: oneGroup,
  response: ok,
  status: 200,
  errors: ['not_found', 'forbidden'],
});
