import { z } from 'zod';
import { defineRoute } from '../define-route.ts';
import { suspendable, suspension } from '../rights/suspensions.ts';
import { idInPath, listOf, listQuery, text, uuid } from '../schemas.ts';

const base = { service: 'projects', plane: 'platform', limit: 'write', status: 200 } as const;
const byOperator = { ...base, callers: ['operator'], method: 'POST' } as const;

const capability = z.enum(suspendable).default('all').describe('all: everything');
const suspend = z.strictObject({
  capability,
  reason: text(1, 500).describe('Its owner reads it'),
});
const lift = z.strictObject({ capability });
const inForce = z.object({ suspensions: z.array(suspension).describe('Those that are left') });

export const suspendOwner = defineRoute({
  ...byOperator,
  operationId: 'suspendOwner',
  path: '/owners/:ownerId/suspend',
  summary: 'Suspend an owner: all their projects, and no new ones; or one capability of them all',
  params: z.object({ ownerId: uuid }),
  body: suspend,
  response: inForce,
  errors: ['invalid_body', 'not_found'],
});

export const liftOwner = defineRoute({
  ...byOperator,
  operationId: 'liftOwner',
  path: '/owners/:ownerId/lift',
  summary: 'Lift the suspension of an owner, or of one capability of their projects',
  params: z.object({ ownerId: uuid }),
  body: lift,
  response: inForce,
  errors: ['invalid_body', 'not_found'],
});

export const suspendProject = defineRoute({
  ...byOperator,
  operationId: 'suspendProject',
  path: '/projects/:projectId/suspend',
  summary: 'Suspend a project with its previews, or one capability of it',
  params: z.object({ projectId: idInPath }),
  body: suspend,
  response: inForce,
  errors: ['invalid_body', 'not_found', 'forbidden'],
});

export const liftProject = defineRoute({
  ...byOperator,
  operationId: 'liftProject',
  path: '/projects/:projectId/lift',
  summary: 'Lift the suspension of a project, or of one capability of it; not that of its owner',
  params: z.object({ projectId: idInPath }),
  body: lift,
  response: inForce,
  errors: ['invalid_body', 'not_found'],
});

export const listSuspensions = defineRoute({
  ...base,
  callers: ['owner', 'operator'],
  operationId: 'listSuspensions',
  method: 'GET',
  path: '/suspensions',
  limit: 'read',
  summary: 'What is suspended, newest first: owners their own, operators all',
  query: listQuery.extend({ ownerId: uuid.optional().describe('For operators: of one owner') }),
  response: listOf(
    suspension.extend({
      id: uuid,
      projectId: z.string().nullable(),
      ownerId: z.string().nullable(),
    }),
  ),
  errors: ['invalid_query', 'invalid_cursor', 'forbidden'],
});
