import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { powers } from '../../rights/powers.ts';
import { idInPath, listOf, ok } from '../../schemas.ts';
import { roleName } from '../auth/user.ts';

const base = { service: 'projects', plane: 'platform', callers: ['owner', 'operator'] } as const;

const oneRole = z.object({ projectId: idInPath, name: idInPath });

const role = z.object({ name: z.string(), may: z.array(z.enum(powers)) }).meta({ id: 'Role' });

export type Role = z.infer<typeof role>;

export const listRoles = defineRoute({
  ...base,
  callers: ['owner', 'key', 'operator'],
  operationId: 'listRoles',
  method: 'GET',
  path: '/projects/:projectId/roles',
  summary: 'What the users of roles may beyond what rules say',
  limit: 'read',
  params: z.object({ projectId: idInPath }),
  response: listOf(role),
  status: 200,
  errors: ['not_found'],
});

export const setRole = defineRoute({
  ...base,
  operationId: 'setRole',
  method: 'PUT',
  path: '/projects/:projectId/roles/:name',
  summary: 'Set what the users of a role may, in place of what they could before',
  limit: 'write',
  params: z.object({ projectId: idInPath, name: roleName }),
  body: z.strictObject({
    may: z
      .array(z.enum(powers))
      .max(powers.length)
      .refine((may) => new Set(may).size === may.length, 'must name each power once'),
  }),
  response: role,
  status: 200,
  errors: ['invalid_path', 'invalid_body', 'not_found', 'role_limit'],
});

export const deleteRole = defineRoute({
  ...base,
  operationId: 'deleteRole',
  method: 'DELETE',
  path: '/projects/:projectId/roles/:name',
  summary: 'Take from the users of a role what it let them do; they keep the role',
  limit: 'write',
  params: oneRole,
  response: ok,
  status: 200,
  errors: ['not_found'],
});
