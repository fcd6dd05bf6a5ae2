import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { ok } from '../../schemas.ts';
import { everyone, merge, mergeErrors, session, toAll } from '../auth/user.ts';
import { challenge, oauthCode, returnTo, verifier } from './provider-fields.ts';

const base = { service: 'auth', plane: 'runtime', servesPlatformProject: true } as const;

export const checkReturn = defineRoute({
  ...base,
  operationId: 'checkReturn',
  method: 'GET',
  path: '/auth/handover',
  summary: 'Whether the page /account/sign-in may lead back there, before anybody types a password',
  callers: everyone,
  ignoresCredentials: true,
  limit: 'read',
  query: z.object({ returnTo }),
  response: ok,
  status: 200,
  errors: ['invalid_query', 'not_found'],
});

export const handOverSession = defineRoute({
  ...base,
  operationId: 'handOverSession',
  method: 'POST',
  path: '/auth/handover',
  summary:
    'For the page /account/sign-in: the address of the app, with a code that gives it this session',
  callers: ['user'],
  opensTo: toAll,
  limit: 'write',
  body: z.object({
    returnTo: returnTo.describe('A page of the app: its origin stands in allowedOrigins'),
    challenge: challenge.describe('SHA-256 of the verifier that the app keeps, base64url'),
  }),
  response: z.object({ url: z.string().describe('returnTo with the code, good for 60 seconds') }),
  status: 200,
  errors: ['invalid_body', 'invalid_query', 'not_found'],
});

export const takeSession = defineRoute({
  ...base,
  operationId: 'takeSession',
  method: 'POST',
  path: '/auth/handover/token',
  summary: 'The session of who has signed in on the page /account/sign-in, by the code it brought',
  callers: ['anonymous', 'user'],
  opensTo: toAll,
  limit: 'write',
  body: z.object({ code: oauthCode, verifier, merge }),
  response: session,
  status: 200,
  errors: ['invalid_body', 'invalid_link', 'conflict', ...mergeErrors],
});
