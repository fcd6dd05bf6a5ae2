import { z } from 'zod';
import { defineRoute, limitClasses } from '../../define-route.ts';
import { memberRoles } from '../../rights/member-roles.ts';
import { suspension } from '../../rights/suspensions.ts';
import {
  displayName,
  idInPath,
  listOf,
  listQuery,
  ok,
  timestamp,
  uuid,
  visibleLine,
} from '../../schemas.ts';
import { projectSettings } from './project-settings.ts';

const externalId = visibleLine(128);

export const project = z
  .object({
    id: z.string(),
    name: z.string(),
    externalId: z
      .string()
      .optional()
      .describe('What its owner’s own software calls it; once among the owner’s projects'),
    ownerId: uuid.nullable(),
    status: z.enum(['active', 'paused', 'deleted']),
    baseUrl: z.string(),
    settings: projectSettings.meta({ id: 'ProjectSettings' }),
    createdAt: timestamp,
    suspensions: z
      .array(suspension)
      .optional()
      .describe('What the operator has suspended, and why; absent where nothing is'),
    role: z
      .enum(memberRoles)
      .optional()
      .describe('What the caller is in it; absent for keys and the operator'),
    previewOf: z.string().optional().describe('Of a preview: the id of its project'),
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
  body: z.strictObject({
    name,
    externalId: externalId.optional(),
    settings: projectSettings.optional(),
  }),
  response: project,
  status: 201,
  errors: ['invalid_body', 'project_limit', 'conflict'],
});

export const listProjects = defineRoute({
  ...base,
  operationId: 'listProjects',
  method: 'GET',
  path: '/projects',
  summary: 'Own projects and those that one is a member of, newest first; the operator sees all',
  limit: 'read',
  query: listQuery.extend({
    q: z.string().min(1).max(100).optional().describe('How the name or the id begins, in any case'),
    name: z.string().min(1).max(100).optional().describe('The whole name, in any case'),
    externalId: externalId.optional(),
    status: project.shape.status.optional(),
    ownerId: uuid.optional(),
  }),
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
    externalId: externalId.nullable().optional(),
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
  errors: ['invalid_body', 'not_found', 'forbidden', 'conflict'],
});

export const deleteProject = defineRoute({
  ...base,
  operationId: 'deleteProject',
  memberRole: 'owner',
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
  operatorScope: 'support',
  memberRole: 'owner',
  method: 'POST',
  path: '/projects/:projectId/restore',
  summary: 'Restore a deleted project',
  limit: 'write',
  params: oneProject,
  response: project,
  status: 200,
  errors: ['not_found', 'forbidden', 'conflict'],
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

const ownLimits = z
  .strictObject({ perCaller: limit.optional(), perProject: limit.optional() })
  .optional();

/** What the owner has lowered, and nothing else. */
export const loweredLimits = z.strictObject(
  Object.fromEntries(limitClasses.map((limitClass) => [limitClass, ownLimits])) as Record<
    (typeof limitClasses)[number],
    typeof ownLimits
  >,
);

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

export const getLimits = defineRoute({
  ...withKeys,
  operationId: 'getLimits',
  method: 'GET',
  path: '/projects/:projectId/limits',
  summary: 'Calls a minute per class, as they hold',
  limit: 'read',
  params: oneProject,
  response: effectiveLimits,
  status: 200,
  errors: ['not_found'],
});

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
