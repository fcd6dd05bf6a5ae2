import { ApiError } from '@backlot/contract';
import express, { type Express } from 'express';
import { errorHandler, type FailureLog } from './failure.ts';
import type { MountedRoute, RouteContext } from './route.ts';

export interface ServiceAppOptions extends RouteContext {
  routes: readonly MountedRoute[];
  log: FailureLog;
}

/** An app with nothing switched on that costs time and that the contract does not ask for. */
export const bareApp = (): Express => {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  return app;
};

/**
 * A service as one Express app: it can listen by itself or be called by the gateway in its own
 * process. Paths are the contract's, with the plane's base already cut off; those of the control
 * plane stand under `/platform`.
 */
export const serviceApp = ({ routes, log, ...context }: ServiceAppOptions): Express => {
  const app = bareApp();
  for (const { definition, middleware } of routes) {
    const path = definition.plane === 'platform' ? `/platform${definition.path}` : definition.path;
    app[definition.method.toLowerCase() as 'get'](path, middleware(context));
  }
  app.use(() => {
    throw new ApiError('route_not_found', 'There is no such route.');
  });
  app.use(errorHandler(log));
  return app;
};
