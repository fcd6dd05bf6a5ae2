import { z } from 'zod';
import { defineRoute, limitClasses, MIB } from '../define-route.ts';
import { email } from '../email-address.ts';
import { keyScopes } from '../key-scopes.ts';
import { displayName, idInPath, listOf, listQuery, ok, text, timestamp, uuid } from '../schemas.ts';
import { accessPresets } from './records/access.ts';

export const origin = z
  .string()
  .max(255, { abort: true })
  .check(z.url({ protocol: /^https?$/ }))
  .refine(
    (value) => URL.canParse(value) && new URL(value).origin === value,
    'must be an origin such as https://example.org',
  );

/** The app's own page for account links: an address to which a fragment is added. */
const pageUrl = z
  .string()
  .max(500, { abort: true })
  .check(z.url({ protocol: /^https?$/ }))
  .refine(
    (value) =>
      URL.canParse(value) &&
      new URL(value).href === value &&
      !value.includes('#') &&
      new URL(value).username === '' &&
      new URL(value).password === '',
    'must be an address such as https://example.org/account, as browsers write it, without a fragment',
  );

/** Who may make calls of a kind: each of these; with none of them nobody but the owner and keys. */
const callersOfKind = z
  .array(
    z
      .string()
      .max(37, { abort: true })
      .regex(
        /^(anyone|users|role:[a-z0-9_-]{1,32})$/,
        'must be "anyone", "users" or "role:<name>", such as "role:member"',
      ),
  )
  .max(20);
const credits = z.number().int().min(0).max(1_000_000_000);

/** docs/api.md, "Control plane"; every setting may be left out. */
export const projectSettings = z.strictObject({
  emailRecipients: z.enum(['anyone', 'known']).optional(),
  emailAllowList: z.array(email).max(1000).optional(),
  emailPerVisitorPerDay: z.number().int().min(0).max(1_000_000).optional(),
  uploadsPerVisitorPerDay: z.number().int().min(0).max(1_000_000).optional(),
  visitorCreditsPerDay: credits.optional(),
  creditsPerDay: credits.optional(),
  creditsPerMonth: credits.optional(),
  callers: z
    .strictObject({
      ai: callersOfKind.optional(),
      uploads: callersOfKind.optional(),
      email: callersOfKind.optional(),
    })
    .optional(),
  allowedOrigins: z.array(origin).max(100).optional(),
  accountPageUrl: pageUrl.optional(),
  maxUploadBytes: z
    .number()
    .int()
    .min(1)
    .max(5 * 1024 * MIB)
    .optional(),
  aiModel: text(1, 200).optional(),
  aiPerVisitorPerDay: z.number().int().min(0).max(1_000_000).optional(),
  createCollections: z.boolean().optional(),
  payments: z.enum(['any', 'products-only']).optional(),
  productEditors: z
    .array(z.string().regex(/^role:[a-z0-9_-]{1,32}$/, 'must be a role, such as "role:staff"'))
    .max(10)
    .optional(),
  defaultAccess: z.enum(accessPresets).optional(),
});
export type ProjectSettings = z.infer<typeof projectSettings>;

export const project = z
  .object({
    id: z.string(),
    name: z.string(),
    ownerId: uuid.nullable(),
    status: z.enum(['active', 'paused', 'deleted']),
    baseUrl: z.string(),
    settings: projectSettings.meta({ id: 'ProjectSettings' }),
    createdAt: timestamp,
  })
  .meta({ id: 'Project' });

const name = displayName(100);
const base = { service: 'projects', plane: 'platform', callers: ['owner', 'operator'] } as const;
const withKeys = { ...base, callers: ['owner', 'key', 'operator'] } as const;
const oneProject = z.object({ projectId: idInPath });

export const createProject = defineRoute({
  ...base,
  callers: ['owner'],
  operationId: 'createProject',
  method: 'POST',
  path: '/projects',
  summary: 'Create a project',
  limit: 'write',
  body: z.strictObject({ name, settings: projectSettings.optional() }),
  response: project,
  status: 201,
  errors: ['invalid_body', 'project_limit'],
});

export const listProjects = defineRoute({
  ...base,
  operationId: 'listProjects',
  method: 'GET',
  path: '/projects',
  summary: 'Own projects, newest first; the operator sees all',
  limit: 'read',
  query: listQuery,
  response: listOf(project),
  status: 200,
  errors: ['invalid_query', 'invalid_cursor'],
});

export const getProject = defineRoute({
  ...withKeys,
  operationId: 'getProject',
  method: 'GET',
  path: '/projects/:projectId',
  summary: 'Read a project',
  limit: 'read',
  params: oneProject,
  response: project,
  status: 200,
  errors: ['not_found'],
});

export const updateProject = defineRoute({
  ...withKeys,
  operationId: 'updateProject',
  method: 'PATCH',
  path: '/projects/:projectId',
  summary: 'Rename, pause or set up a project; settings are merged, null restores a default',
  limit: 'write',
  params: oneProject,
  body: z.strictObject({
    name: name.optional(),
    status: z.enum(['active', 'paused']).optional(),
    settings: z
      .strictObject(
        Object.fromEntries(
          Object.entries(projectSettings.shape).map(([key, schema]) => [
            key,
            schema.unwrap().nullable().optional(),
          ]),
        ),
      )
      .optional(),
  }),
  response: project,
  status: 200,
  errors: ['invalid_body', 'not_found', 'forbidden'],
});

export const deleteProject = defineRoute({
  ...base,
  operationId: 'deleteProject',
  method: 'DELETE',
  path: '/projects/:projectId',
  summary: 'Delete a project; it can be restored for 30 days',
  limit: 'write',
  params: oneProject,
  response: ok,
  status: 200,
  errors: ['not_found', 'forbidden'],
});

export const restoreProject = defineRoute({
  ...base,
  operationId: 'restoreProject',
  method: 'POST',
  path: '/projects/:projectId/restore',
  summary: 'Restore a deleted project',
  limit: 'write',
  params: oneProject,
  response: project,
  status: 200,
  errors: ['not_found', 'forbidden'],
});

const limit = z.number().int().min(0).max(1_000_000);
const classLimits = z.strictObject({
  perCaller: limit.nullable().optional(),
  perProject: limit.nullable().optional(),
});
const limits = z.strictObject(
  Object.fromEntries(
    limitClasses.map((limitClass) => [limitClass, classLimits.nullable().optional()]),
  ) as Record<(typeof limitClasses)[number], z.ZodOptional<z.ZodNullable<typeof classLimits>>>,
);
export type LimitChanges = z.infer<typeof limits>;

const effectiveLimits = z
  .object(
    Object.fromEntries(
      limitClasses.map((limitClass) => [
        limitClass,
        z.object({ perCaller: limit, perProject: limit }),
      ]),
    ) as Record<
      (typeof limitClasses)[number],
      z.ZodObject<{ perCaller: typeof limit; perProject: typeof limit }>
    >,
  )
  .meta({ id: 'Limits' });

export const setLimits = defineRoute({
  ...withKeys,
  operationId: 'setLimits',
  method: 'PUT',
  path: '/projects/:projectId/limits',
  summary:
    'Change calls a minute per class; merged, null restores a default. The owner can only lower them',
  limit: 'write',
  params: oneProject,
  body: limits,
  response: effectiveLimits,
  status: 200,
  errors: ['invalid_body', 'not_found', 'forbidden'],
});

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
