import { z } from 'zod';
import { defineRoute, forgiving, KIB } from '../../define-route.ts';
import { jsonObject, ok, uuid } from '../../schemas.ts';
import { inProfile, name, toAll, toWhole, user } from './user.ts';

/** docs/api.md, "Accounts". */
const maxProfileBytes = 8 * KIB;
const maxPublicProfileBytes = 2 * KIB;

const onlyUser = z.object({ user });

const base = { service: 'auth', plane: 'runtime', servesPlatformProject: true } as const;

export const getMe = defineRoute({
  ...base,
  ...forgiving,
  operationId: 'getMe',
  method: 'GET',
  path: '/auth/me',
  summary: 'The signed-in user; with "caller" to the owner of the project, who is no user of it',
  callers: ['user', 'owner'],
  opensTo: toAll,
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
  summary: 'Change the own name, picture and profiles',
  callers: ['user'],
  opensTo: ['unverified'],
  limit: 'write',
  body: z.object({
    name: name.nullable().optional(),
    avatar: uuid.nullable().optional().describe('Id of a public file'),
    profile: jsonObject(maxProfileBytes).optional().describe('Replaces the whole profile'),
    publicProfile: jsonObject(maxPublicProfileBytes)
      .optional()
      .describe('What others see beside name and picture; replaces the whole'),
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
  opensTo: toWhole,
  limit: 'write',
  response: ok,
  status: 200,
  errors: ['conflict', 'reauthentication_needed'],
});
