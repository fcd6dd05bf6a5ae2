import { z } from 'zod';
import { defineRoute } from '../define-route.ts';
import { email } from '../email-address.ts';
import { displayName, idInPath, listOf, listQuery, ok, timestamp, uuid } from '../schemas.ts';
import { roleName } from './auth.ts';

/** docs/api.md, "Groups". */
export const maxGroupsPerUser = 100;
export const maxGroupMembers = 1000;
export const maxGroupInvites = 100;
export const maxDirectoryIds = 100;

const name = displayName(100);
const groupRole = roleName.describe(
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

/** Whom others see: never an address. */
export const person = z
  .object({
    id: uuid,
    name: z.string().nullable(),
    avatar: uuid.nullable().describe('Id of a public file'),
  })
  .meta({ id: 'Person' });
export type Person = z.infer<typeof person>;

export const member = person
  .extend({ role: z.string(), joinedAt: timestamp })
  .meta({ id: 'Member' });
export type Member = z.infer<typeof member>;

export const invite = z
  .object({
    id: uuid,
    email: z.string(),
    role: z.string(),
    createdAt: timestamp,
    expiresAt: timestamp,
  })
  .meta({ id: 'Invite' });
export type Invite = z.infer<typeof invite>;

const base = {
  service: 'auth',
  plane: 'runtime',
  callers: ['user', 'owner', 'key', 'operator'],
} as const;
const oneGroup = z.object({ groupId: idInPath });
const oneMember = oneGroup.extend({ userId: idInPath });

export const createGroup = defineRoute({
  ...base,
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
  ...base,
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

export const updateGroup = defineRoute({
  ...base,
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
  ...base,
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

export const joinGroup = defineRoute({
  ...base,
  callers: ['user'],
  operationId: 'joinGroup',
  method: 'POST',
  path: '/groups/join',
  summary: 'Join a group with the token of the mailed link, which works once',
  limit: 'write',
  changesCaller: true,
  body: z.object({ token: z.string().min(1).max(128) }),
  response: group,
  status: 200,
  errors: ['invalid_body', 'invalid_link', 'group_limit', 'conflict'],
});

export const listGroupMembers = defineRoute({
  ...base,
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
  ...base,
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
  ...base,
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

export const inviteToGroup = defineRoute({
  ...base,
  operationId: 'inviteToGroup',
  method: 'POST',
  path: '/groups/:groupId/invites',
  summary: 'Mail somebody a link with which they join; it replaces an older one to that address',
  limit: 'write',
  params: oneGroup,
  body: z.object({ email, role: groupRole.default('member') }),
  response: invite,
  status: 201,
  errors: ['invalid_body', 'not_found', 'forbidden', 'group_limit', 'too_many_attempts'],
});

export const listGroupInvites = defineRoute({
  ...base,
  operationId: 'listGroupInvites',
  method: 'GET',
  path: '/groups/:groupId/invites',
  summary: 'Invitations that nobody has followed yet, to those who manage the group',
  limit: 'read',
  params: oneGroup,
  response: listOf(invite),
  status: 200,
  errors: ['not_found', 'forbidden'],
});

export const revokeGroupInvite = defineRoute({
  ...base,
  operationId: 'revokeGroupInvite',
  method: 'DELETE',
  path: '/groups/:groupId/invites/:inviteId',
  summary: 'Take an invitation back',
  limit: 'write',
  params: oneGroup.extend({ inviteId: idInPath }),
  response: ok,
  status: 200,
  errors: ['not_found', 'forbidden'],
});

export const findUsers = defineRoute({
  ...base,
  operationId: 'findUsers',
  method: 'GET',
  path: '/users',
  summary:
    'Names and pictures of users, by id: of those who share a group with the caller, or of all to the project’s owner',
  limit: 'read',
  query: z.object({
    ids: z
      .string()
      .min(1)
      .max(maxDirectoryIds * 37)
      .transform((ids) => ids.split(','))
      .refine((ids) => ids.length <= maxDirectoryIds, `takes at most ${maxDirectoryIds} ids`)
      .describe(`Up to ${maxDirectoryIds} ids, separated by commas`),
  }),
  response: listOf(person),
  status: 200,
  errors: ['invalid_query'],
});

export const setUserRole = defineRoute({
  ...base,
  callers: ['owner', 'operator'],
  operationId: 'setUserRole',
  method: 'PATCH',
  path: '/users/:userId',
  summary: 'Set the role of a user in the project',
  limit: 'write',
  params: z.object({ userId: idInPath }),
  body: z.object({ role: roleName }),
  response: person.extend({ role: z.string() }),
  status: 200,
  errors: ['invalid_body', 'not_found'],
});
