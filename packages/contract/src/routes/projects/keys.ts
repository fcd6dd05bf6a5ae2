import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { keyScopes } from '../../rights/key-scopes.ts';
import { displayName, idInPath, listOf, listQuery, ok, timestamp, uuid } from '../../schemas.ts';

const name = displayName(100);

const base = { service: 'projects', plane: 'platform', callers: ['owner', 'operator'] } as const;

const oneProject = z.object({ projectId: idInPath });

const storedKey = z
  .object({
    id: uuid,
    name: z.string(),
    scopes: z.array(z.enum(keyScopes)),
    createdAt: timestamp,
    expiresAt: timestamp.nullable(),
    lastUsedAt: timestamp.nullable().describe('To within five minutes'),
  })
  .meta({ id: 'SecretKey' });

export type StoredKey = z.infer<typeof storedKey>;

export const createKey = defineRoute({
  ...base,
  operationId: 'createKey',
  method: 'POST',
  path: '/projects/:projectId/keys',
  summary: 'Create a secret key; it is shown in this answer only',
  limit: 'write',
  params: oneProject,
  body: z.strictObject({
    name,
    scopes: z
      .array(z.enum(keyScopes))
      .min(1)
      .max(keyScopes.length)
      .refine((scopes) => new Set(scopes).size === scopes.length, 'must name each scope once')
      .default(['read', 'write'])
      .describe('read: reads only, and spends no credits; write: all data; admin: the project'),
    expiresAt: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('A time to come; without it the key has no end'),
  }),
  response: storedKey.extend({ key: z.string() }),
  status: 201,
  errors: ['invalid_body', 'not_found', 'key_limit'],
});

export const listKeys = defineRoute({
  ...base,
  operationId: 'listKeys',
  memberRole: 'admin',
  method: 'GET',
  path: '/projects/:projectId/keys',
  summary: 'Secret keys of a project, without the keys themselves',
  limit: 'read',
  params: oneProject,
  query: listQuery,
  response: listOf(storedKey),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor', 'not_found'],
});

export const deleteKey = defineRoute({
  ...base,
  operationId: 'deleteKey',
  method: 'DELETE',
  path: '/projects/:projectId/keys/:keyId',
  summary: 'Revoke a secret key',
  limit: 'write',
  params: z.object({ projectId: idInPath, keyId: idInPath }),
  response: ok,
  status: 200,
  errors: ['not_found'],
});
