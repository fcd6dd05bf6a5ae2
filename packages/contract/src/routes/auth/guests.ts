import { defineRoute } from '../../define-route.ts';
import { session, toAll } from './user.ts';

export const createGuest = defineRoute({
  service: 'auth',
  plane: 'runtime',
  operationId: 'createGuest',
  method: 'POST',
  path: '/auth/guest',
  summary: 'Begin a session of a guest, whom any way to sign up makes a user',
  callers: ['anonymous', 'user'],
  opensTo: toAll,
  limit: 'write',
  response: session,
  status: 201,
  errors: ['forbidden', 'too_many_attempts'],
});
