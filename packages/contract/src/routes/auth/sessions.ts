import { z } from 'zod';
import { defineRoute, indifferent } from '../../define-route.ts';
import { ok } from '../../schemas.ts';
import { everyone, session } from './user.ts';

const base = { service: 'auth', plane: 'runtime', servesPlatformProject: true } as const;

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
