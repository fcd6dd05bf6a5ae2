import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, idsInQuery, listOf, listQuery, timestamp, uuid } from '../../schemas.ts';
import { block, blockFields, roleName } from '../auth/user.ts';

const maxDirectoryIds = 100;

const avatar = uuid.nullable().describe('Id of a public file');

/** Whom others see: never an address. */
export const namedUser = z.object({ id: uuid, name: z.string().nullable(), avatar });

export const person = namedUser
  .extend({
    publicProfile: z
      .record(z.string(), z.unknown())
      .describe('What the user shows others: PATCH /auth/me {"publicProfile": …}'),
  })
  .meta({ id: 'Person' });

export type Person = z.infer<typeof person>;

/** In the list of all users, with more of each. */
const seenUser = namedUser.extend({
  publicProfile: person.shape.publicProfile.optional().describe('Of users asked for by id'),
  role: z.string().optional(),
  createdAt: timestamp.optional(),
  blocked: block,
  isGuest: z.boolean().optional(),
  email: z
    .string()
    .nullable()
    .optional()
    .describe('For the owner, and a role with the power see-emails; null of a guest'),
  emailVerified: z.boolean().optional(),
});

export type SeenUser = z.infer<typeof seenUser>;

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
    'Names, pictures and public profiles of users, by id; with the setting publicProfiles off, of those who share a group with the caller',
  limit: 'read',
  query: listQuery.extend({
    role: roleName.optional().describe('Of a list without ids'),
    ids: idsInQuery(maxDirectoryIds)
      .optional()
      .describe(
        `Up to ${maxDirectoryIds} ids, separated by commas; without them all users, for a role with the power see-users`,
      ),
  }),
  response: listOf(seenUser),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor', 'forbidden'],
});

export const moderateUser = defineRoute({
  ...base,
  operationId: 'moderateUser',
  method: 'PATCH',
  path: '/users/:userId',
  summary:
    'Block a user of the project, by its owner, a key or a role with the power block-users; or set the role, by its owner',
  limit: 'write',
  params: z.object({ userId: idInPath }),
  body: z.object({ role: roleName.optional(), ...blockFields }),
  response: namedUser.extend({ role: z.string(), blocked: block }),
  status: 200,
  errors: ['invalid_body', 'forbidden', 'not_found'],
});
