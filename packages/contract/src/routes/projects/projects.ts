import { z } from 'zod';
import { defineRoute, limitClasses } from '../../define-route.ts';
import { displayName, idInPath, listOf, listQuery, ok, timestamp, uuid } from '../../schemas.ts';
import { projectSettings } from './project-settings.ts';

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
