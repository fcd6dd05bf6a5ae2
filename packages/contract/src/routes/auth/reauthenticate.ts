import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { ok } from '../../schemas.ts';
import { factorCode } from './factors.ts';
import { anyPassword } from './password-fields.ts';
import { toAll } from './user.ts';

export const reauthenticate = defineRoute({
  service: 'auth',
  plane: 'runtime',
  servesPlatformProject: true,
  operationId: 'reauthenticate',
  method: 'POST',
  path: '/auth/reauthenticate',
  summary:
    'Show again whose account it is, for 10 minutes; without a proof 403 reauthentication_needed tells that one is due',
  callers: ['user'],
  opensTo: toAll,
  limit: 'write',
  body: z
    .object({ password: anyPassword.optional(), code: factorCode.optional() })
    .refine(({ password, code }) => password === undefined || code === undefined, {
      message: 'takes "password" or "code", not both',
    })
    .optional(),
  response: ok,
  status: 200,
  errors: [
    'invalid_body',
    'invalid_credentials',
    'forbidden',
    'reauthentication_needed',
    'too_many_attempts',
    'overloaded',
    'secrets_unreadable',
  ],
});
