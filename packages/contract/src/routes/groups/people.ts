import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, listOf, uuid } from '../../schemas.ts';
import { roleName } from '../auth/user.ts';

export const maxDirectoryIds = 100;

/** Whom others see: never an address. */
export const person = z
  .object({
    id: uuid,
    name: z.string().nullable(),
    avatar: uuid.nullable().describe('Id of a public file'),
  })
  .meta({ id: 'Person' });

export type Person = z.infer<typeof person>;

const base = {
  service: 'auth',
  plane: 'runtime',
  callers: ['user', 'owner', 'key', 'operator'],
} as const;

export const findUsers = defineRoute({
  ...base,
  operationId: 'findUsers',
  method: 'GET',
  path: '/users',
  summary:
    'Names and pictures of users, by id: of those who share a group with the caller, or of all to the project’s owner',
  limit: 'read',
  query: z.object({
    ids: z
      .string()
      .min(1)
      .max(maxDirectoryIds * 37)
      .transform((ids) => ids.split(','))
      .refine((ids) => ids.length <= maxDirectoryIds, `takes at most ${maxDirectoryIds} ids`)
      .describe(`Up to ${maxDirectoryIds} ids, separated by commas`),
  }),
  response: listOf(person),
  status: 200,
  errors: ['invalid_query'],
});

export const setUserRole = defineRoute({
  ...base,
  callers: ['owner', 'operator'],
  operationId: 'setUserRole',
  method: 'PATCH',
  path: '/users/:userId',
  summary: 'Set the role of a user in the project',
  limit: 'write',
  params: z.object({ userId: idInPath }),
  body: z.object({ role: roleName }),
  response: person.extend({ role: z.string() }),
  status: 200,
  errors: ['invalid_body', 'not_found'],
});
