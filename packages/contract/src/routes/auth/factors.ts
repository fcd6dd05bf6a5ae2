import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, ok, timestamp, uuid } from '../../schemas.ts';
import { oneTimeToken } from './password-fields.ts';
import { everyone, merge, mergeErrors, session, toAll, toSetUp } from './user.ts';

const base = { service: 'auth', plane: 'runtime', servesPlatformProject: true } as const;
const ofUser = { ...base, callers: ['user'], opensTo: toSetUp } as const;

/** As people type it, with spaces and dashes. */
export const factorCode = z
  .string()
  .min(1)
  .max(40)
  .describe('Six digits of the authenticator app, or a recovery code; good once');

export const factor = z
  .object({
    id: uuid,
    type: z.literal('totp'),
    createdAt: timestamp,
    lastUsedAt: timestamp.nullable(),
  })
  .meta({ id: 'Factor' });

export type Factor = z.infer<typeof factor>;

export const factorList = z.object({
  items: z.array(factor),
  recoveryCodesLeft: z.int().min(0),
});

export const createTotp = defineRoute({
  ...ofUser,
  operationId: 'createTotp',
  method: 'POST',
  path: '/auth/factors/totp',
  summary: 'A secret for an authenticator app; it counts once a code of it was confirmed',
  limit: 'write',
  response: z.object({
    secret: z.string().describe('Base32'),
    uri: z.string().describe('otpauth://…, for a QR code'),
  }),
  status: 200,
  errors: ['conflict', 'factor_first', 'forbidden', 'reauthentication_needed'],
});

export const confirmTotp = defineRoute({
  ...ofUser,
  operationId: 'confirmTotp',
  method: 'POST',
  path: '/auth/factors/totp/confirm',
  summary:
    'Sign-ins ask for a code from now on; every other session ends. The recovery codes are shown this once',
  limit: 'write',
  changesCaller: true,
  body: z.object({ code: z.string().min(1).max(40) }),
  response: z.object({ recoveryCodes: z.array(z.string()) }),
  status: 200,
  errors: [
    'invalid_body',
    'invalid_credentials',
    'conflict',
    'too_many_attempts',
    'factor_first',
    'secrets_unreadable',
  ],
});

export const listFactors = defineRoute({
  ...ofUser,
  opensTo: toAll,
  operationId: 'listFactors',
  method: 'GET',
  path: '/auth/factors',
  summary: 'The own second factors; passkeys have a list of their own',
  limit: 'read',
  response: factorList,
  status: 200,
  errors: [],
});

export const deleteFactor = defineRoute({
  ...ofUser,
  opensTo: ['unverified'],
  operationId: 'deleteFactor',
  method: 'DELETE',
  path: '/auth/factors/:id',
  summary:
    'Sign in without a code from now on; takes one, and ends recovery codes and remembered devices',
  limit: 'write',
  params: z.object({ id: idInPath }),
  body: z.object({ code: factorCode }),
  response: ok,
  status: 200,
  errors: [
    'invalid_body',
    'invalid_credentials',
    'not_found',
    'too_many_attempts',
    'secrets_unreadable',
  ],
});

export const verifyFactor = defineRoute({
  ...base,
  operationId: 'verifyFactor',
  method: 'POST',
  path: '/auth/factors/verify',
  summary: 'Finish a sign-in that has answered a factorToken',
  callers: everyone,
  opensTo: toAll,
  limit: 'write',
  body: z.object({
    factorToken: oneTimeToken,
    code: factorCode,
    remember: z
      .boolean()
      .optional()
      .describe('Answers a deviceToken: sign-ins that send it ask for no code for 30 days'),
    merge,
  }),
  response: session.extend({ deviceToken: z.string().optional() }),
  status: 200,
  errors: [
    'invalid_body',
    'invalid_credentials',
    'sign_in_expired',
    ...mergeErrors,
    'too_many_attempts',
    'secrets_unreadable',
  ],
});
