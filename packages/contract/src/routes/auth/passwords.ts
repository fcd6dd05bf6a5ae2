import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { ok } from '../../schemas.ts';
import { email } from '../../texts/email-address.ts';
import { anyPassword, newPassword, oneTimeToken } from './password-fields.ts';
import { everyone, toAll, toWhole } from './user.ts';

const base = { service: 'auth', plane: 'runtime', servesPlatformProject: true } as const;

export const changePassword = defineRoute({
  ...base,
  operationId: 'changePassword',
  method: 'POST',
  path: '/auth/password',
  summary: 'Change the password; every other session ends',
  callers: ['user'],
  opensTo: toWhole,
  limit: 'write',
  body: z.object({ currentPassword: anyPassword, newPassword }),
  response: ok,
  status: 200,
  errors: [
    'invalid_body',
    'invalid_credentials',
    'password_too_weak',
    'too_many_attempts',
    'overloaded',
  ],
});

export const forgotPassword = defineRoute({
  ...base,
  operationId: 'forgotPassword',
  capability: 'mail',
  method: 'POST',
  path: '/auth/forgot',
  summary:
    'Mail a one-time link for a new password; the answer never tells whether the address is known',
  callers: everyone,
  opensTo: toAll,
  limit: 'write',
  body: z.object({ email }),
  response: ok,
  status: 200,
  errors: ['invalid_body', 'too_many_attempts'],
});

export const resetPassword = defineRoute({
  ...base,
  operationId: 'resetPassword',
  method: 'POST',
  path: '/auth/reset',
  summary: 'Set a new password with the token of the mailed link; every session ends',
  callers: everyone,
  opensTo: toAll,
  limit: 'write',
  body: z.object({ token: oneTimeToken, password: newPassword }),
  response: ok,
  status: 200,
  errors: ['invalid_body', 'invalid_link', 'password_too_weak', 'overloaded'],
});
