import { z } from 'zod';
import { defineRoute, forgiving } from '../../define-route.ts';
import { email } from '../../texts/email-address.ts';
import { newPassword, oneTimeToken } from './password-fields.ts';
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
  // A guest, who has no address to verify, becomes a user by it.
  opensTo: ['unverified'],
  limit: 'write',
  body: z.object({
    email,
    password: newPassword,
    name: name.optional(),
    invitation: oneTimeToken
      .optional()
      .describe('Of a mailed invitation: the new user joins the group with it'),
  }),
  elsewhere: { profile: inProfile, data: inProfile, metadata: inProfile, options: inProfile },
  response: session,
  status: 201,
  errors: [
    'invalid_body',
    'password_too_weak',
    'sign_up_closed',
    'invalid_link',
    'email_taken',
    'group_limit',
    'too_many_attempts',
    'proof_of_work_needed',
    'overloaded',
  ],
});
