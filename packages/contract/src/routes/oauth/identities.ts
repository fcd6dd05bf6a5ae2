import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, listOf, ok, timestamp, uuid } from '../../schemas.ts';
import { toWhole } from '../auth/user.ts';
import { oauthCode, providerLabel, verifier } from './provider-fields.ts';

const base = {
  service: 'auth',
  plane: 'runtime',
  servesPlatformProject: true,
  callers: ['user'],
  opensTo: ['unverified'],
} as const;

export const linkedIdentity = z
  .object({
    id: uuid,
    provider: z.string(),
    label: providerLabel,
    issuer: z.string(),
    email: z.string().nullable().describe('Which the provider has named last'),
    createdAt: timestamp,
    lastUsedAt: timestamp,
  })
  .meta({ id: 'LinkedIdentity' });

/** Of one user. */
export const maxIdentities = 20;

export const listIdentities = defineRoute({
  ...base,
  opensTo: toWhole,
  operationId: 'listIdentities',
  method: 'GET',
  path: '/auth/identities',
  summary: 'The accounts elsewhere with which the user signs in here',
  limit: 'read',
  response: listOf(linkedIdentity),
  status: 200,
  errors: [],
});

export const linkIdentity = defineRoute({
  ...base,
  operationId: 'linkIdentity',
  method: 'POST',
  path: '/auth/identities',
  summary:
    'Sign in with an account elsewhere from now on, by the code that its provider has brought',
  limit: 'write',
  body: z.object({ code: oauthCode, verifier }),
  response: linkedIdentity,
  status: 201,
  errors: ['invalid_body', 'invalid_link', 'conflict', 'limit_reached', 'reauthentication_needed'],
});

export const unlinkIdentity = defineRoute({
  ...base,
  operationId: 'unlinkIdentity',
  method: 'DELETE',
  path: '/auth/identities/:identityId',
  summary: 'Sign in with it no more; the last way of signing in stays',
  limit: 'write',
  params: z.object({ identityId: idInPath }),
  response: ok,
  status: 200,
  errors: ['not_found', 'conflict', 'reauthentication_needed'],
});
