import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, listOf, listQuery, ok, timestamp } from '../../schemas.ts';
import { groupRole, groupRoute, oneGroup } from './groups.ts';
import { namedUser } from './people.ts';

export const maxGroupMembers = 1000;

export const member = namedUser
  .extend({ role: z.string(), joinedAt: timestamp })
  .meta({ id: 'Member' });

export type Member = z.infer<typeof member>;

const oneMember = oneGroup.extend({ userId: idInPath });

export const listGroupMembers = defineRoute({
  ...groupRoute,
  operationId: 'listGroupMembers',
  method: 'GET',
  path: '/groups/:groupId/members',
  summary: 'The members of a group, without their addresses',
  limit: 'read',
  params: oneGroup,
  query: listQuery,
  response: listOf(member),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor', 'not_found'],
});

export const updateGroupMember = defineRoute({
  ...groupRoute,
  operationId: 'updateGroupMember',
  method: 'PATCH',
  path: '/groups/:groupId/members/:userId',
  summary: 'Set what a member is in the group',
  limit: 'write',
  params: oneMember,
  body: z.object({ role: groupRole }),
  response: member,
  status: 200,
  errors: ['invalid_body', 'not_found', 'forbidden', 'conflict'],
});

export const removeGroupMember = defineRoute({
  ...groupRoute,
  operationId: 'removeGroupMember',
  method: 'DELETE',
  path: '/groups/:groupId/members/:userId',
  summary: 'Remove a member, or leave the group oneself',
  limit: 'write',
  changesCaller: true,
  params: oneMember,
  response: ok,
  status: 200,
  errors: ['not_found', 'forbidden', 'conflict'],
});
