import { z } from 'zod';
import { defineRoute, forgiving } from '../../define-route.ts';
import { anyPassword } from './password-fields.ts';
import { deviceToken, everyone, merge, mergeErrors, signInAnswer, toAll } from './user.ts';

const base = { service: 'auth', plane: 'runtime', servesPlatformProject: true } as const;

export const signIn = defineRoute({
  ...base,
  ...forgiving,
  operationId: 'signIn',
  method: 'POST',
  path: '/auth/signin',
  summary: 'Sign in with e-mail and password',
  callers: everyone,
  opensTo: toAll,
  limit: 'write',
  body: z.object({ email: z.string().max(320), password: anyPassword, deviceToken, merge }),
  response: signInAnswer,
  status: 200,
  errors: [
    'invalid_body',
    'invalid_credentials',
    ...mergeErrors,
    'too_many_attempts',
    'proof_of_work_needed',
    'overloaded',
  ],
});
