import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { ok } from '../../schemas.ts';
import { email } from '../../texts/email-address.ts';
import { oneTimeToken } from './password-fields.ts';
import {
  deviceToken,
  everyone,
  factorAsked,
  merge,
  mergeErrors,
  name,
  newSession,
  toAll,
} from './user.ts';

const base = { service: 'auth', plane: 'runtime', servesPlatformProject: true } as const;

const invitation = oneTimeToken
  .optional()
  .describe('Of a mailed invitation, where only who was invited signs up');

const code = z
  .string()
  .max(20)
  .transform((text) => text.replace(/[\s-]/g, ''))
  .pipe(z.string().regex(/^\d{6}$/, 'must be the six digits of the mail'));

export const requestCode = defineRoute({
  ...base,
  operationId: 'requestCode',
  capability: 'mail',
  method: 'POST',
  path: '/auth/code',
  summary:
    'Mail a code that signs in, or up; the answer never tells whether the address has an account',
  callers: everyone,
  opensTo: toAll,
  limit: 'write',
  body: z.object({ email, invitation }),
  response: ok,
  status: 200,
  errors: ['invalid_body', 'forbidden', 'too_many_attempts'],
});

export const showSignInLink = defineRoute({
  ...base,
  operationId: 'showSignInLink',
  method: 'POST',
  path: '/auth/code/link',
  summary: 'Which address the link of a mail signs in, in part, to ask for consent; it stays good',
  callers: everyone,
  opensTo: toAll,
  limit: 'read',
  body: z.object({ token: oneTimeToken }),
  response: z.object({ email: z.string().describe('ad…@example.org') }),
  status: 200,
  errors: ['invalid_body', 'invalid_link', 'forbidden'],
});

export const verifyCode = defineRoute({
  ...base,
  operationId: 'verifyCode',
  method: 'POST',
  path: '/auth/code/verify',
  summary: 'Sign in, or up, with the code of a mail or the token of its link',
  callers: everyone,
  opensTo: toAll,
  limit: 'write',
  body: z
    .object({
      email: email.optional().describe('With the code'),
      code: code.optional(),
      token: oneTimeToken.optional().describe('Instead of both: what stands in the link'),
      name: name.optional().describe('Of a new account'),
      invitation,
      deviceToken,
      merge,
    })
    .refine(
      ({ email, code, token }) =>
        token === undefined ? email !== undefined && code !== undefined : code === undefined,
      'needs "email" and "code", or "token"',
    )
    // Who follows a link that somebody else has sent would give them what is the guest's.
    .refine(
      ({ token, merge }) => token === undefined || merge !== true,
      '"merge": true goes with "email" and "code", not with the token of a link',
    ),
  response: z.union([newSession, factorAsked]),
  status: 200,
  errors: [
    'invalid_body',
    'invalid_link',
    'invalid_credentials',
    ...mergeErrors,
    'sign_up_closed',
    'email_taken',
    'group_limit',
    'too_many_attempts',
  ],
});
