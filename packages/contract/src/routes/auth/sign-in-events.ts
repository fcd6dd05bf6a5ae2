import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, listOf, listQuery, timestamp, uuid } from '../../schemas.ts';
import { toWhole } from './user.ts';

const signInEventKinds = [
  'signed_in',
  'failed',
  'signed_out',
  'password_changed',
  'email_changed',
  'factor_added',
  'factor_removed',
  'passkey_added',
  'passkey_removed',
  'identity_linked',
  'identity_removed',
  'guest_merged',
  'recovery_codes_renewed',
] as const;
export type SignInEventKind = (typeof signInEventKinds)[number];

export const signInEvent = z
  .object({
    id: uuid,
    kind: z.enum(signInEventKinds),
    detail: z
      .string()
      .nullable()
      .describe('How, or of what: `password`, `google`, a passkey’s name'),
    device: z.string().nullable().describe('Browser and system, as they call themselves'),
    network: z.string().nullable().describe('The address without its last part'),
    times: z.int().min(1).describe('Failed attempts of one network within an hour are one entry'),
    createdAt: timestamp,
    lastAt: timestamp,
  })
  .meta({ id: 'SignInEvent' });
export type SignInEvent = z.infer<typeof signInEvent>;

export const listMyEvents = defineRoute({
  service: 'auth',
  plane: 'runtime',
  servesPlatformProject: true,
  operationId: 'listMyEvents',
  method: 'GET',
  path: '/auth/events',
  summary: 'What happened to the own sign-in in the last 90 days, newest first',
  callers: ['user'],
  opensTo: toWhole,
  limit: 'read',
  query: listQuery,
  response: listOf(signInEvent),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor'],
});

export const listUserEvents = defineRoute({
  service: 'auth',
  plane: 'platform',
  operationId: 'listUserEvents',
  method: 'GET',
  path: '/projects/:projectId/users/:userId/events',
  summary: "What happened to a user's sign-in in the last 90 days, newest first",
  callers: ['owner', 'operator'],
  limit: 'read',
  params: z.object({ projectId: idInPath, userId: idInPath }),
  query: listQuery,
  response: listOf(signInEvent),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor', 'not_found'],
});
