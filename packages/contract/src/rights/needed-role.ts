import type { RouteDefinition } from '../define-route.ts';
import { neededScope } from './key-scopes.ts';
import type { MemberRole } from './member-roles.ts';

/** Whether a route is about one project, as whose owner or member somebody calls. */
const isOfProject = ({ plane, path }: Pick<RouteDefinition, 'plane' | 'path'>) =>
  plane === 'runtime' || path.includes('/:projectId');

/**
 * The least role in the project that may call: what the route says, else that of what keys may. Who may read
 * sees, a key that writes is an editor, all else takes an admin. Null where no owner calls, or in no project.
 */
export const neededRole = (
  route: Pick<
    RouteDefinition,
    'operationId' | 'plane' | 'path' | 'method' | 'callers' | 'memberRole'
  >,
): MemberRole | null => {
  if (!route.callers.includes('owner') || !isOfProject(route)) return null;
  if (route.memberRole) return route.memberRole;
  const scope = neededScope(route);
  if (scope === 'read' || route.method === 'GET') return 'viewer';
  return scope === 'write' ? 'editor' : 'admin';
};
