import { routes as contractRoutes, type RouteDefinition } from '@backlot/contract';
import findMyWay from 'find-my-way';
import type { SignedFor } from './identities.ts';

export type FindTestRoute = (method: string, path: string) => SignedFor;

const answeringService = (path: string) => {
  if (/^\/internal\/(sessions|accounts|users)\//.test(path)) return 'auth';
  if (/^\/internal\/(images|files)/.test(path)) return 'storage';
  return path === '/internal/shapes' ? 'records' : 'projects';
};

/**
 * What the gateway signs a call for, by the path that the service sees. A call of nothing finds nothing
 * that would accept it.
 */
export const createFindTestRoute = (routes: readonly RouteDefinition[]): FindTestRoute => {
  const router = findMyWay({ maxParamLength: 64 * 1024 });
  for (const definition of routes) {
    const path = definition.plane === 'platform' ? `/platform${definition.path}` : definition.path;
    router.on(definition.method, path, () => {}, definition);
  }
  return (method, path) => {
    if (path.startsWith('/internal/')) {
      return { service: answeringService(path), operationId: `${method} ${path}` };
    }
    const found = router.find(
      (method === 'HEAD' ? 'GET' : method) as findMyWay.HTTPMethod,
      path.split('?')[0] ?? '',
    );
    return (found?.store as RouteDefinition) ?? { service: 'records', operationId: 'none' };
  };
};

/** Of the contract. */
export const findTestRoute = createFindTestRoute(contractRoutes);
