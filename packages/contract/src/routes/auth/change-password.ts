import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { ok } from '../../schemas.ts';
import { anyPassword, newPassword } from './passwords.ts';

const base = { service: 'auth', plane: 'runtime', servesPlatformProject: true } as const;

export const changePassword = defineRoute({
  ...base,
  operationId: 'changePassword',
  method: 'POST',
  path: '/auth/password',
  summary: 'Change the password; every other session ends',
  callers: ['user'],
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
