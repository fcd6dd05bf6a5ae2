import { z } from 'zod';
import { defineRoute, forgiving, indifferent, KIB } from '../define-route.ts';
import { email } from '../email-address.ts';
import {
  displayName,
  idInPath,
  jsonObject,
  listOf,
  listQuery,
  ok,
  text,
  timestamp,
  uuid,
} from '../schemas.ts';

/** docs/api.md, "Accounts". */
const maxProfileBytes = 8 * KIB;

/** As lists show it. */
export const listedUser = z
  .object({
    id: uuid,
    email: z.string(),
    name: z.string().nullable(),
    avatar: uuid.nullable().describe('Id of a file'),
    role: z.string(),
    emailVerified: z.boolean(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'ListedUser' });
export type ListedUser = z.infer<typeof listedUser>;

export const user = listedUser
  .extend({
    profile: z.record(z.string(), z.unknown()).describe('What the app keeps of the user'),
  })
  .meta({ id: 'User' });
export type User = z.infer<typeof user>;

const session = z.object({ token: z.string(), user }).meta({ id: 'Session' });
const onlyUser = z.object({ user });

/** What a user is in a project or a group. */
export const roleName = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must be 1-32 of a-z, 0-9, _ and -, starting with a letter');

/** Sign-in takes any length a password once had, bounded. */
const anyPassword = z.string().max(1024, { abort: true });
/** In NFKC before every rule, as it is hashed: `ｐａｓｓｗｏｒｄ１` is `password1`. */
const newPassword = text(8, 128, anyPassword.normalize('NFKC'));
const name = displayName(100);
/** One-time tokens of mails: 32 bytes in base64url. */
const oneTimeToken = z.string().min(1).max(128);

/** Whoever follows a link shows by it that the account is theirs, and not a stranger's who has named their address. */
const passwordOfClick = anyPassword
  .optional()
  .describe('Of the account, from who is not signed in to it: sessions then go on');

const base = { service: 'auth', plane: 'runtime', servesPlatformProject: true } as const;
const inProfile = 'What the app keeps of a user: PATCH /auth/me {"profile":{"plan":"free"}}.';
const everyone = ['anonymous', 'user', 'owner', 'key', 'operator'] as const;

export const signUp = defineRoute({
  ...base,
  ...forgiving,
  operationId: 'signUp',
  method: 'POST',
  path: '/auth/signup',
  summary: 'Create an account and sign in',
  callers: everyone,
  limit: 'write',
  body: z.object({ email, password: newPassword, name: name.optional() }),
  elsewhere: { profile: inProfile, data: inProfile, metadata: inProfile, options: inProfile },
  response: session,
  status: 201,
  errors: ['invalid_body', 'password_too_weak', 'email_taken', 'too_many_attempts', 'overloaded'],
});

export const signIn = defineRoute({
  ...base,
  ...forgiving,
  operationId: 'signIn',
  method: 'POST',
  path: '/auth/signin',
  summary: 'Sign in with e-mail and password',
  callers: everyone,
  limit: 'write',
  body: z.object({ email: z.string().max(320), password: anyPassword }),
  response: session,
  status: 200,
  errors: ['invalid_body', 'invalid_credentials', 'too_many_attempts', 'overloaded'],
});

export const getMe = defineRoute({
  ...base,
  ...forgiving,
  operationId: 'getMe',
  method: 'GET',
  path: '/auth/me',
  summary: 'The signed-in user; with "caller" to the owner of the project, who is no user of it',
  callers: ['user', 'owner'],
  limit: 'read',
  response: onlyUser.extend({ caller: z.literal('owner').optional() }),
  status: 200,
  errors: [],
});

export const updateMe = defineRoute({
  ...base,
  operationId: 'updateMe',
  method: 'PATCH',
  path: '/auth/me',
  summary: 'Change the own name, picture and profile',
  callers: ['user'],
  limit: 'write',
  body: z.object({
    name: name.nullable().optional(),
    avatar: uuid.nullable().optional().describe('Id of a public file'),
    profile: jsonObject(maxProfileBytes).optional().describe('Replaces the whole profile'),
  }),
  elsewhere: {
    email: 'The address: POST /auth/change-email {"email":"new@example.org","password":"..."}.',
    password: 'The password: POST /auth/password {"currentPassword":"...","newPassword":"..."}.',
    role: 'The role: the owner of the app sets it, PATCH /api/platform/projects/<project>/users/<id>.',
    data: inProfile,
    metadata: inProfile,
    user_metadata: inProfile,
  },
  response: onlyUser,
  status: 200,
  errors: ['invalid_body'],
});

export const deleteMe = defineRoute({
  ...base,
  operationId: 'deleteMe',
  method: 'DELETE',
  path: '/auth/me',
  summary: 'Erase the own account and its sessions',
  callers: ['user'],
  limit: 'write',
  response: ok,
  status: 200,
  errors: ['conflict'],
});

export const refreshToken = defineRoute({
  ...base,
  operationId: 'refreshToken',
  method: 'POST',
  path: '/auth/refresh',
  summary: 'A new token for the same session',
  callers: ['user'],
  limit: 'write',
  response: session,
  status: 200,
  errors: [],
});

export const signOut = defineRoute({
  ...base,
  operationId: 'signOut',
  method: 'POST',
  path: '/auth/signout',
  summary: 'End this session, or with "all" every session of the user',
  callers: ['user'],
  limit: 'write',
  body: z.object({ all: z.boolean().optional() }).optional(),
  response: ok,
  status: 200,
  errors: ['invalid_body'],
});

export const changePassword = defineRoute({
  ...base,
  operationId: 'changePassword',
  method: 'POST',
  path: '/auth/password',
  summary: 'Change the password; every other session ends',
  callers: ['user'],
  limit: 'write',
  body: z.object({ currentPassword: anyPassword, newPassword }),
  response: ok,
  status: 200,
  errors: [
    'invalid_body',
    'invalid_credentials',
    'password_too_weak',
    'too_many_attempts',
    'overloaded',
  ],
});

export const changeEmail = defineRoute({
  ...base,
  operationId: 'changeEmail',
  method: 'POST',
  path: '/auth/change-email',
  summary:
    'Mail one-time links to the present and the new address; the address changes once both were followed',
  callers: ['user'],
  limit: 'write',
  body: z.object({ email, password: anyPassword }),
  response: ok,
  status: 200,
  errors: ['invalid_body', 'invalid_credentials', 'too_many_attempts', 'overloaded'],
});

export const confirmEmailChange = defineRoute({
  ...base,
  operationId: 'confirmEmailChange',
  method: 'POST',
  path: '/auth/change-email/confirm',
  summary: 'Follow one of the links that a change of the e-mail address has mailed',
  callers: everyone,
  limit: 'write',
  body: z.object({ token: oneTimeToken, password: passwordOfClick }),
  response: ok.extend({
    changed: z.boolean().describe('False while the link in the other mail has not been followed'),
  }),
  status: 200,
  errors: [
    ...(['invalid_body', 'invalid_link', 'email_taken'] as const),
    ...(['invalid_credentials', 'too_many_attempts', 'overloaded'] as const),
  ],
});

export const forgotPassword = defineRoute({
  ...base,
  operationId: 'forgotPassword',
  method: 'POST',
  path: '/auth/forgot',
  summary:
    'Mail a one-time link for a new password; the answer never tells whether the address is known',
  callers: everyone,
  limit: 'write',
  body: z.object({ email }),
  response: ok,
  status: 200,
  errors: ['invalid_body', 'too_many_attempts'],
});

export const resetPassword = defineRoute({
  ...base,
  operationId: 'resetPassword',
  method: 'POST',
  path: '/auth/reset',
  summary: 'Set a new password with the token of the mailed link; every session ends',
  callers: everyone,
  limit: 'write',
  body: z.object({ token: oneTimeToken, password: newPassword }),
  response: ok,
  status: 200,
  errors: ['invalid_body', 'invalid_link', 'password_too_weak', 'overloaded'],
});

export const verifyEmail = defineRoute({
  ...base,
  operationId: 'verifyEmail',
  method: 'POST',
  path: '/auth/verify',
  summary:
    'Confirm the e-mail address with the token of the mailed link; without a session of the account or its password every session ends, and the password: a link for a new one is mailed',
  callers: everyone,
  limit: 'write',
  body: z.object({ token: oneTimeToken, password: passwordOfClick }),
  response: ok,
  status: 200,
  errors: [
    ...(['invalid_body', 'invalid_link'] as const),
    ...(['invalid_credentials', 'too_many_attempts', 'overloaded'] as const),
  ],
});

export const getJwks = defineRoute({
  ...base,
  ...indifferent,
  operationId: 'getJwks',
  method: 'GET',
  path: '/auth/.well-known/jwks.json',
  summary: 'Public keys that verify tokens (RFC 7517)',
  callers: everyone,
  limit: 'read',
  ignoresCredentials: true,
  response: z.object({ keys: z.array(z.record(z.string(), z.unknown())) }),
  status: 200,
  errors: [],
});

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
