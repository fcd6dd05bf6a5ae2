import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, listOf, ok, timestamp, uuid } from '../../schemas.ts';
import { email } from '../../texts/email-address.ts';
import { group, groupRole, groupRoute, oneGroup } from './groups.ts';

export const maxGroupInvites = 100;

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

export const joinGroup = defineRoute({
  ...groupRoute,
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

export const showInvitation = defineRoute({
  ...groupRoute,
  callers: ['anonymous', 'user'],
  operationId: 'showInvitation',
  method: 'POST',
  path: '/groups/invitation',
  summary: 'What the token of a mailed link invites to, before one joins; it stays good',
  limit: 'read',
  body: z.object({ token: z.string().min(1).max(128) }),
  response: z.object({
    group: z.object({ name: z.string() }),
    role: z.string(),
    invitedBy: z.string().nullable().describe('Their name, where they have one'),
    expiresAt: timestamp,
  }),
  status: 200,
  errors: ['invalid_body', 'invalid_link'],
});

export const inviteToGroup = defineRoute({
  ...groupRoute,
  operationId: 'inviteToGroup',
  capability: 'mail',
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
  ...groupRoute,
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
  ...groupRoute,
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
