import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { ok } from '../../schemas.ts';
import { email } from '../../texts/email-address.ts';
import { anyPassword, oneTimeToken, passwordOfClick } from './password-fields.ts';
import { everyone, toAll } from './user.ts';

const base = { service: 'auth', plane: 'runtime', servesPlatformProject: true } as const;

export const changeEmail = defineRoute({
  ...base,
  operationId: 'changeEmail',
  method: 'POST',
  path: '/auth/change-email',
  summary:
    'Mail one-time links to the present and the new address; the address changes once both were followed',
  callers: ['user'],
  opensTo: ['unverified'],
  limit: 'write',
  body: z.object({ email, password: anyPassword }),
  response: ok,
  status: 200,
  errors: [
    'invalid_body',
    'invalid_credentials',
    'sign_up_closed',
    'too_many_attempts',
    'overloaded',
  ],
});

export const confirmEmailChange = defineRoute({
  ...base,
  operationId: 'confirmEmailChange',
  method: 'POST',
  path: '/auth/change-email/confirm',
  summary: 'Follow one of the links that a change of the e-mail address has mailed',
  callers: everyone,
  opensTo: toAll,
  limit: 'write',
  body: z.object({ token: oneTimeToken, password: passwordOfClick }),
  response: ok.extend({
    changed: z.boolean().describe('False while the link in the other mail has not been followed'),
  }),
  status: 200,
  errors: [
    'invalid_body',
    'invalid_link',
    'email_taken',
    'invalid_credentials',
    'too_many_attempts',
    'overloaded',
  ],
});

export const verifyEmail = defineRoute({
  ...base,
  operationId: 'verifyEmail',
  method: 'POST',
  path: '/auth/verify',
  summary:
    'Confirm the e-mail address with the token of the mailed link; without a session of the account or its password every session ends, and the password: a link for a new one is mailed',
  callers: everyone,
  opensTo: toAll,
  limit: 'write',
  body: z.object({ token: oneTimeToken, password: passwordOfClick }),
  response: ok,
  status: 200,
  errors: [
    'invalid_body',
    'invalid_link',
    'invalid_credentials',
    'too_many_attempts',
    'overloaded',
  ],
});

export const resendVerification = defineRoute({
  ...base,
  operationId: 'resendVerification',
  method: 'POST',
  path: '/auth/verify/resend',
  summary: 'Mail the link that confirms your e-mail address once more; the one before ends',
  callers: ['user'],
  opensTo: ['unverified'],
  limit: 'write',
  response: ok,
  status: 200,
  errors: ['conflict', 'too_many_attempts'],
});
