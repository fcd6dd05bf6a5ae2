import { z } from 'zod';
import { defineRoute, forgiving } from '../../define-route.ts';
import { email } from '../../email-address.ts';
import { newPassword } from './password-fields.ts';
import { everyone, inProfile, name, session } from './user.ts';

const base = { service: 'auth', plane: 'runtime', servesPlatformProject: true } as const;

export const signUp = defineRoute({
  ...base,
  ...forgiving,
  operationId: 'signUp',
  method: 'POST',
  path: '/auth/signup',
  summary: 'Create an account and sign in',
  callers: everyone,
  limit: 'write',
  body: z.object({ email, password: newPassword, name: name.optional() }),
  elsewhere: { profile: inProfile, data: inProfile, metadata: inProfile, options: inProfile },
  response: session,
  status: 201,
  errors: ['invalid_body', 'password_too_weak', 'email_taken', 'too_many_attempts', 'overloaded'],
});
