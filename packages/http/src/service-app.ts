import { ApiError } from '@backlot/contract';
import {
  createIdentityVerifier,
  IdentityInvalid,
  type IdentityKey,
  type IdentityVerifier,
  identityHeader,
} from '@backlot/identity';
import express, { type Express, type RequestHandler, type Router } from 'express';
import { errorHandler } from './failure.ts';
import { identityRefused, internalCall } from './internal-only.ts';
import { identify, type MountedRoute, type RouteContext } from './route.ts';

export interface ServiceAppOptions extends Omit<RouteContext, 'identities'> {
  /** The gateway's for this service: another sender vouches for no caller. */
  gatewayKeys: readonly IdentityKey[];
  /** Epoch milliseconds. */
  now: () => number;
  routes: readonly MountedRoute[];
  /** Rejects while something the service can't work without is out of reach. */
  ready: () => Promise<unknown>;
  /** Further paths under /internal, for the gateway's own questions; it checks the identity itself. */
  internal?: Router;
  /** Surrounds each call of a route: its statements reach the rows of this project alone. */
  inProject?: ((projectNumber: number, work: () => Promise<void>) => Promise<void>) | undefined;
}

/** An app with nothing switched on that costs time and that the contract does not ask for. */
export const bareApp = (): Express => {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  // A path means here what it means to the gateway's router.
  app.enable('case sensitive routing');
  app.enable('strict routing');
  return app;
};

/** A gateway that asks with an identity learns whether this service can verify it. */
const checkGatewayIdentity = (
  identity: string | string[] | undefined,
  identities: IdentityVerifier,
) => {
  if (identity === undefined) return;
  try {
    identities.verify(identity, internalCall('GET', '/readyz'));
  } catch (error) {
    throw error instanceof IdentityInvalid ? identityRefused(error) : error;
  }
};

/**
 * A service as one Express app: it can listen by itself or be called by the gateway in its own
 * process. Paths are the contract's, with the plane's base already cut off; those of the control
 * plane stand under `/platform`.
 */
export const serviceApp = ({
  routes,
  log,
  ready,
  internal,
  gatewayKeys,
  now,
  inProject,
  ...rest
}: ServiceAppOptions): Express => {
  const context = { ...rest, log, identities: createIdentityVerifier(gatewayKeys, now) };
  const mount = ({ definition, middleware }: MountedRoute): RequestHandler => {
    const handler = middleware(context);
    if (!inProject) return handler;
    return (req, res, next) =>
      inProject(
        identify(req, definition, context).project.number,
        async () => void (await handler(req, res, next)),
      );
  };
  const app = bareApp();
  app.get('/healthz', (_req, res) => void res.json({ ok: true }));
  app.get('/readyz', async (req, res) => {
    checkGatewayIdentity(req.headers[identityHeader], context.identities);
    await ready().then(
      () => res.json({ ok: true }),
      () => res.status(503).json({ ok: false }),
    );
  });
  if (internal) app.use('/internal', internal);
  for (const mounted of routes) {
    const { definition } = mounted;
    const path = definition.plane === 'platform' ? `/platform${definition.path}` : definition.path;
    app[definition.method.toLowerCase() as 'get'](path, mount(mounted));
  }
  app.use(() => {
    throw new ApiError('route_not_found', 'There is no such route.');
  });
  app.use(errorHandler(log));
  return app;
};
