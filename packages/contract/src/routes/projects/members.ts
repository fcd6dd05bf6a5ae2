import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { givenRoles, memberRoles } from '../../rights/member-roles.ts';
import { idInPath, listOf, ok, timestamp, uuid } from '../../schemas.ts';
import { email } from '../../texts/email-address.ts';
import { project } from './projects.ts';

/** Of one project. */
export const maxMembers = 50;
export const maxMemberInvitations = 50;
/** Of one account. */
export const maxMemberships = 200;

const givenRole = z.enum(givenRoles);

const member = z
  .object({
    userId: uuid.describe('Of the account'),
    email: z.string().nullable().describe('null: the account is gone'),
    role: z.enum(memberRoles),
    since: timestamp,
  })
  .meta({ id: 'ProjectMember' });
export type ProjectMember = z.infer<typeof member>;

const invitation = z
  .object({
    id: uuid,
    email: z.string(),
    role: givenRole,
    createdAt: timestamp,
    sentAt: timestamp.describe('When its last mail was asked for'),
    expiresAt: timestamp,
  })
  .meta({ id: 'MemberInvitation' });
export type MemberInvitation = z.infer<typeof invitation>;

const base = { service: 'projects', plane: 'platform', callers: ['owner', 'operator'] } as const;
/** What members do by themselves. */
const ofPeople = { ...base, callers: ['owner'] } as const;

const oneProject = z.object({ projectId: idInPath });
const oneMember = oneProject.extend({ userId: idInPath });
const oneInvitation = oneProject.extend({ invitationId: idInPath });
const path = '/projects/:projectId/members';
const invitations = '/projects/:projectId/invitations';
const token = z.strictObject({ token: z.string().min(1).max(128) });

export const listMembers = defineRoute({
  ...base,
  operationId: 'listMembers',
  method: 'GET',
  path,
  summary: 'Who works on a project and in which role: its owner first, then by time',
  limit: 'read',
  params: oneProject,
  response: listOf(member),
  status: 200,
  errors: ['not_found', 'unavailable'],
});

export const setMemberRole = defineRoute({
  ...base,
  operationId: 'setMemberRole',
  method: 'PATCH',
  path: `${path}/:userId`,
  summary: "Change a member's role; the owner's stays what it is",
  limit: 'write',
  params: oneMember,
  body: z.strictObject({ role: givenRole }),
  response: member,
  status: 200,
  errors: ['invalid_body', 'not_found', 'forbidden'],
});

export const removeMember = defineRoute({
  ...base,
  operationId: 'removeMember',
  method: 'DELETE',
  path: `${path}/:userId`,
  summary: 'Remove a member, who is refused within seconds; keys stay what they are',
  limit: 'write',
  params: oneMember,
  response: ok,
  status: 200,
  errors: ['not_found', 'forbidden'],
});

export const leaveProject = defineRoute({
  ...ofPeople,
  operationId: 'leaveProject',
  method: 'POST',
  path: '/projects/:projectId/leave',
  summary: 'Be a member no more; an owner stays',
  memberRole: 'viewer',
  limit: 'write',
  params: oneProject,
  response: ok,
  status: 200,
  errors: ['not_found', 'forbidden'],
});

export const inviteMember = defineRoute({
  ...ofPeople,
  operationId: 'inviteMember',
  method: 'POST',
  path: invitations,
  summary: 'Mail somebody a link to become a member, good once and for a week',
  limit: 'write',
  params: oneProject,
  body: z.strictObject({ email, role: givenRole }),
  response: invitation,
  status: 201,
  errors: [
    'invalid_body',
    'not_found',
    'forbidden',
    'conflict',
    'member_limit',
    'owner_unverified',
    'too_many_attempts',
    'unavailable',
  ],
});

export const listMemberInvitations = defineRoute({
  ...base,
  operationId: 'listMemberInvitations',
  method: 'GET',
  path: invitations,
  summary: 'Invitations that nobody has followed yet, newest first',
  memberRole: 'admin',
  limit: 'read',
  params: oneProject,
  response: listOf(invitation),
  status: 200,
  errors: ['not_found'],
});

export const resendMemberInvitation = defineRoute({
  ...ofPeople,
  operationId: 'resendMemberInvitation',
  method: 'POST',
  path: `${invitations}/:invitationId/resend`,
  summary: 'Mail a new link, good for a week; the former one ends',
  limit: 'write',
  params: oneInvitation,
  response: invitation,
  status: 200,
  errors: ['not_found', 'forbidden', 'owner_unverified', 'too_many_attempts', 'unavailable'],
});

export const revokeMemberInvitation = defineRoute({
  ...base,
  operationId: 'revokeMemberInvitation',
  method: 'DELETE',
  path: `${invitations}/:invitationId`,
  summary: 'Take an invitation back: its link is good no more',
  limit: 'write',
  params: oneInvitation,
  response: ok,
  status: 200,
  errors: ['not_found'],
});

export const showMemberInvitation = defineRoute({
  ...ofPeople,
  operationId: 'showMemberInvitation',
  changesNothing: true,
  method: 'POST',
  path: '/invitations/show',
  summary: 'What the token of a mailed link invites to; it stays good',
  limit: 'read',
  body: token,
  response: z.object({
    project: z.object({ id: z.string(), name: z.string() }),
    role: givenRole,
    invitedBy: z.string().nullable().describe('Their address; null where the account is gone'),
    isForYou: z.boolean().describe('It was sent to the address of who asks, who has verified it'),
    expiresAt: timestamp,
  }),
  status: 200,
  errors: ['invalid_body', 'invalid_link', 'unavailable'],
});

export const acceptMemberInvitation = defineRoute({
  ...ofPeople,
  operationId: 'acceptMemberInvitation',
  method: 'POST',
  path: '/invitations/accept',
  summary: 'Become a member with the token of a mailed link, by the account of the invited address',
  limit: 'write',
  body: token,
  response: project,
  status: 200,
  errors: [
    'invalid_body',
    'invalid_link',
    'forbidden',
    'verify_first',
    'conflict',
    'member_limit',
    'unavailable',
  ],
});
