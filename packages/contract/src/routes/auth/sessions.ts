import { z } from 'zod';
import { defineRoute, indifferent } from '../../define-route.ts';
import { idInPath, listOf, ok } from '../../schemas.ts';
import { everyone, session, toAll, toWhole } from './user.ts';
import { userSession } from './user-sessions.ts';

const base = { service: 'auth', plane: 'runtime', servesPlatformProject: true } as const;

export const refreshToken = defineRoute({
  ...base,
  operationId: 'refreshToken',
  method: 'POST',
  path: '/auth/refresh',
  summary: 'A new token for the same session',
  callers: ['user'],
  opensTo: toAll,
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
  opensTo: toAll,
  limit: 'write',
  body: z.object({ all: z.boolean().optional() }).optional(),
  response: ok,
  status: 200,
  errors: ['invalid_body'],
});

export const listMySessions = defineRoute({
  ...base,
  operationId: 'listMySessions',
  method: 'GET',
  path: '/auth/sessions',
  summary: 'Where the user is signed in, newest first',
  callers: ['user'],
  opensTo: toWhole,
  limit: 'read',
  response: listOf(
    userSession
      .extend({ isCurrent: z.boolean().describe('The session of this call') })
      .meta({ id: 'OwnSession' }),
  ),
  status: 200,
  errors: [],
});

export const endOtherSessions = defineRoute({
  ...base,
  operationId: 'endOtherSessions',
  method: 'DELETE',
  path: '/auth/sessions',
  summary: 'Sign out everywhere but here',
  callers: ['user'],
  opensTo: toWhole,
  limit: 'write',
  response: ok,
  status: 200,
  errors: [],
});

export const endMySession = defineRoute({
  ...base,
  operationId: 'endMySession',
  method: 'DELETE',
  path: '/auth/sessions/:sessionId',
  summary: 'End one of the own sessions',
  callers: ['user'],
  opensTo: toWhole,
  limit: 'write',
  params: z.object({ sessionId: idInPath }),
  response: ok,
  status: 200,
  errors: ['not_found'],
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
