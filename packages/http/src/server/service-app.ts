import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';
import { ApiError, type Method } from '@backlot/contract';
import {
  createIdentityVerifier,
  type Identity,
  IdentityInvalid,
  type IdentityKey,
  type IdentityVerifier,
  identityHeader,
} from '@backlot/identity';
import express, { type Express, type Router } from 'express';
import { identify } from '../caller.ts';
import { answerFailure, errorHandler } from '../failure.ts';
import { identityRefused, internalCall } from '../internal-only.ts';
import {
  type MountedRoute,
  noQuery,
  type RouteContext,
  type RouteListener,
  type RouteRequest,
} from '../route.ts';
import { createRouteTable, type TableRow } from '../route-table.ts';
import { nothingMissing, readinessBody, type ServiceReadiness, shareLook } from './readiness.ts';

export interface ServiceAppOptions extends Omit<RouteContext, 'identities'> {
  /** The gateway's for this service: another sender vouches for no caller. */
  gatewayKeys: readonly IdentityKey[];
  /** Epoch milliseconds. */
  now: () => number;
  routes: readonly MountedRoute[];
  /** Asked once a second. One that rejects counts as not serving. */
  ready: () => Promise<ServiceReadiness>;
  /** Further paths under /internal, for the gateway's own questions; it checks the identity itself. */
  internal?: Router;
  /** Surrounds each call of a route: whose rows its statements reach, and when it has a connection. */
  surround?: (identity: Identity, work: () => Promise<void>) => Promise<void>;
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

/** What a service is: it listens by itself, or the gateway in the same process calls it. */
export type ServiceApp = (req: IncomingMessage, res: ServerResponse) => void;

/**
 * A service as one function. Paths are the contract's, with the plane's base already cut off; those of the
 * control plane stand under `/platform`. Behind them is an Express app, which no call of the API pays for: an
 * app gives every request and response another prototype, and tries one pattern after the other.
 */
export const serviceApp = ({
  routes,
  log,
  ready,
  internal,
  gatewayKeys,
  now,
  surround,
  ...rest
}: ServiceAppOptions): ServiceApp => {
  const context = { ...rest, log, identities: createIdentityVerifier(gatewayKeys, now) };
  const mount = ({ definition, middleware }: MountedRoute): RouteListener => {
    const listener = middleware(context);
    if (!surround) return listener;
    return (req, res) => surround(identify(req, definition, context), () => listener(req, res));
  };
  const findRow = createRouteTable(
    routes.map((mounted): TableRow<RouteListener> => {
      const { method, plane, path } = mounted.definition;
      return [method, plane === 'platform' ? `/platform${path}` : path, mount(mounted)];
    }),
  );
  const app = bareApp();
  app.get('/healthz', (_req, res) => void res.json({ ok: true }));
  const look = shareLook(
    () => ready().catch(() => ({ ...nothingMissing, isServing: false })),
    performance.now.bind(performance),
  );
  app.get('/readyz', async (req, res) => {
    checkGatewayIdentity(req.headers[identityHeader], context.identities);
    const { isServing, ...readiness } = await look();
    res.status(isServing ? 200 : 503).json({ ok: isServing, ...readinessBody(readiness) });
  });
  if (internal) app.use('/internal', internal);
  app.use(({ path }) => {
    // Throws where the path's escapes are no UTF-8, which is a 400.
    decodeURIComponent(path);
    throw new ApiError('route_not_found', 'There is no such route.');
  });
  app.use(errorHandler(log));

  const answer = async (listener: RouteListener, req: RouteRequest, res: ServerResponse) => {
    try {
      await listener(req, res);
    } catch (error) {
      answerFailure(req, res, error, log);
    }
  };
  return (req, res) => {
    const { method = '', url = '' } = req;
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const row = findRow((method === 'HEAD' ? 'GET' : method) as Method, path);
    if (!row) return app(req, res);
    const query = mark < 0 ? noQuery : parse(url.slice(mark + 1));
    void answer(row.entry, Object.assign(req, { method, url, params: row.params, query }), res);
  };
};
