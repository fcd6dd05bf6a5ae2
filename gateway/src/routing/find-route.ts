import { ApiError, type Method, type RouteDefinition } from '@backlot/contract';
import { createRouteTable } from '@backlot/http';
import { createNearestRoute } from './nearest-route.ts';

export interface FoundRoute {
  definition: RouteDefinition;
  /** The project that a call of the control plane is about. */
  targetProjectId: string | undefined;
}

/** The path as the service knows it. */
export const servicePath = (definition: RouteDefinition, path: string): string =>
  definition.plane === 'platform' ? `/platform${path}` : path;

export type FindRoute = (
  plane: RouteDefinition['plane'],
  method: string,
  path: string,
  inPlatformProject: boolean,
) => FoundRoute;

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const isMethod = (method: string): method is Method =>
  (methods as readonly string[]).includes(method);
const createTable = (routes: readonly RouteDefinition[]) =>
  createRouteTable(routes.map((definition) => [definition.method, definition.path, definition]));

/**
 * Finds the route of a canonical path. HEAD counts as GET.
 * @throws ApiError route_not_found, method_not_allowed
 */
export const createFindRoute = (routes: readonly RouteDefinition[]): FindRoute => {
  const tables = {
    runtime: createTable(routes.filter(({ plane }) => plane === 'runtime')),
    platform: createTable(routes.filter(({ plane }) => plane === 'platform')),
  };

  const nearest = createNearestRoute(routes);

  return (plane, method, path, inPlatformProject) => {
    const find = (wanted: Method): FoundRoute | null => {
      const found = tables[plane](wanted, path);
      if (!found) return null;
      const { entry: definition, params } = found;
      if (inPlatformProject && !definition.servesPlatformProject) return null;
      return {
        definition,
        targetProjectId: plane === 'platform' ? params.projectId : undefined,
      };
    };
    const wanted = method === 'HEAD' ? 'GET' : method;
    const found = isMethod(wanted) ? find(wanted) : null;
    if (found) return found;

    const allowed = methods.flatMap((name) => find(name)?.definition ?? []);
    const [known] = allowed;
    if (!known) {
      const hint = inPlatformProject
        ? 'The project "platform" holds the accounts of owners alone.'
        : nearest.ofPath(plane, path);
      throw new ApiError('route_not_found', 'There is no such route.', { hint });
    }
    const taken = allowed.flatMap(({ method: name }) =>
      name === 'GET' ? ['GET', 'HEAD'] : [name],
    );
    throw new ApiError('method_not_allowed', `This route does not take ${method}.`, {
      hint: nearest.ofMethod(known, { method, path }, taken),
      headers: { Allow: [...taken, 'OPTIONS'].join(', ') },
    });
  };
};
