import { z } from 'zod';
import { defineRoute, indifferent, KIB } from '../../define-route.ts';
import { listOf } from '../../schemas.ts';
import { oneTimeToken } from '../auth/password-fields.ts';
import {
  deviceToken,
  everyone,
  factorAsked,
  merge,
  mergeErrors,
  session,
  toAll,
} from '../auth/user.ts';
import { challenge, oauthCode, providerLabel, returnTo, verifier } from './provider-fields.ts';

const base = { service: 'auth', plane: 'runtime', servesPlatformProject: true } as const;

/** Beside a password and providers, for the form that shows them. */
const waysIn = z.object({
  signUp: z.boolean().describe('Whether somebody without an invitation makes an account'),
  codes: z.boolean(),
  guests: z.boolean(),
  passkeys: z.boolean().describe('Whether they work on pages of the origin that asks'),
});

export const listAuthProviders = defineRoute({
  ...base,
  operationId: 'listAuthProviders',
  method: 'GET',
  path: '/auth/providers',
  summary: 'Who else signs users in here, Google, GitHub and others, and what else there is',
  callers: everyone,
  ignoresCredentials: true,
  limit: 'read',
  response: listOf(
    z.object({ name: z.string(), label: providerLabel }).meta({ id: 'AuthProvider' }),
  ).extend({ ways: waysIn }),
  status: 200,
  errors: [],
});

const page = {
  ...base,
  ...indifferent,
  callers: everyone,
  ignoresCredentials: true,
  answers: 'html',
  limit: 'write',
  response: z.string(),
  status: 200,
} as const;

export const beginOauth = defineRoute({
  ...page,
  operationId: 'beginOauth',
  method: 'GET',
  path: '/auth/oauth/:provider',
  summary: 'Leads the browser to a provider (302), and from there back to returnTo?code=',
  params: z.object({ provider: z.string().min(1).max(32) }),
  query: z.object({
    returnTo: returnTo.describe('A page of the app: its origin stands in allowedOrigins'),
    challenge: challenge.describe('SHA-256 of the verifier that the app keeps, base64url'),
    mode: z
      .enum(['redirect', 'popup'])
      .default('redirect')
      .describe('popup: the code is posted to the page that has opened the window'),
  }),
  errors: ['invalid_query', 'not_found', 'too_many_attempts', 'overloaded', 'upstream_failed'],
});

const part = z.string().max(4096).optional();
/** RFC 6749, 4.1.2; RFC 9207. */
const answer = { state: part, code: part, error: part, error_description: part, iss: part };
const inQuery = z.object(answer);
const inForm = z.object({ ...answer, user: part.describe('Of Apple, the first time: the name') });
const callbackErrors = ['invalid_query', 'invalid_link', 'not_found'] as const;
const callbackPath = '/auth/oauth/callback';
const ownParams = z.object({ issuer: z.string().min(1).max(64) });

export const finishOauth = defineRoute({
  ...page,
  operationId: 'finishOauth',
  method: 'GET',
  path: callbackPath,
  summary: 'For providers alone, in the project `platform`: where they lead browsers back to',
  query: inQuery,
  errors: callbackErrors,
});

export const finishOauthForm = defineRoute({
  ...page,
  operationId: 'finishOauthForm',
  method: 'POST',
  path: callbackPath,
  summary: 'The same for Apple, which posts a form',
  takes: 'form',
  body: inForm,
  bodyLimitBytes: 32 * KIB,
  errors: [...callbackErrors, 'invalid_body'],
});

export const finishOwnOauth = defineRoute({
  ...page,
  operationId: 'finishOwnOauth',
  method: 'GET',
  path: `${callbackPath}/:issuer`,
  summary: 'The same for a provider that an owner has named by its issuer: one address for each',
  params: ownParams,
  query: inQuery,
  errors: callbackErrors,
});

export const exchangeOauthCode = defineRoute({
  ...base,
  operationId: 'exchangeOauthCode',
  method: 'POST',
  path: '/auth/oauth/token',
  summary: 'Sign in with the code that a provider’s answer has brought; makes an account at first',
  callers: ['anonymous', 'user'],
  opensTo: toAll,
  limit: 'write',
  body: z.object({
    code: oauthCode,
    verifier,
    deviceToken,
    merge,
    invitation: oneTimeToken
      .optional()
      .describe('Of a mailed invitation: a new user joins the group with it'),
  }),
  response: z.union([
    session.extend({ isNew: z.boolean().describe('The account was made just now') }),
    factorAsked,
  ]),
  status: 200,
  errors: [
    'invalid_body',
    'invalid_link',
    'sign_up_closed',
    'email_taken',
    'group_limit',
    'conflict',
    'too_many_attempts',
    ...mergeErrors,
  ],
});
