import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, listOf, ok, timestamp, uuid } from '../../schemas.ts';

const base = {
  service: 'auth',
  plane: 'platform',
  callers: ['owner', 'operator'],
  status: 200,
} as const;

export const userSession = z
  .object({
    id: uuid,
    device: z.string().nullable().describe('Browser and system, as they call themselves'),
    network: z.string().nullable().describe('Where it began: the address without its last part'),
    method: z.string().nullable().describe('How it began'),
    createdAt: timestamp,
    lastUsedAt: timestamp.describe('To some ten minutes'),
    expiresAt: timestamp,
  })
  .meta({ id: 'UserSession' });

const ofUser = z.object({ projectId: idInPath, userId: idInPath });
const path = '/projects/:projectId/users/:userId/sessions';

export const listUserSessions = defineRoute({
  ...base,
  operationId: 'listUserSessions',
  method: 'GET',
  path,
  summary: 'Where a user is signed in, newest first',
  limit: 'read',
  params: ofUser,
  response: listOf(userSession),
  errors: ['not_found'],
});

export const endUserSessions = defineRoute({
  ...base,
  operationId: 'endUserSessions',
  operatorScope: 'support',
  method: 'DELETE',
  path,
  summary: 'Sign a user out everywhere',
  limit: 'write',
  params: ofUser,
  response: ok,
  errors: ['not_found'],
});

export const endUserSession = defineRoute({
  ...base,
  operationId: 'endUserSession',
  operatorScope: 'support',
  method: 'DELETE',
  path: `${path}/:sessionId`,
  summary: 'End one session of a user',
  limit: 'write',
  params: ofUser.extend({ sessionId: idInPath }),
  response: ok,
  errors: ['not_found'],
});

export const listSignUps = defineRoute({
  ...base,
  callers: ['owner', 'key', 'operator'],
  operationId: 'listSignUps',
  method: 'GET',
  path: '/projects/:projectId/sign-ups',
  summary: 'Accounts that are there, by the day (UTC) on which they were made',
  limit: 'read',
  params: z.object({ projectId: idInPath }),
  query: z.object({ days: z.coerce.number().int().min(1).max(366).default(30) }),
  response: listOf(
    z
      .object({
        day: z.iso.date(),
        signUps: z.int().min(0),
        verified: z.int().min(0).describe('Of them, whose address is verified by now'),
      })
      .meta({ id: 'SignUpsOfDay' }),
  ),
  errors: ['invalid_query', 'not_found'],
});
