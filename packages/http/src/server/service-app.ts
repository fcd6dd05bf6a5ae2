import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';
import { ApiError, type Method, type RouteDefinition } from '@backlot/contract';
import {
  createIdentityVerifier,
  type Identity,
  IdentityInvalid,
  type IdentityKey,
  type IdentityVerifier,
  identityHeader,
} from '@backlot/identity';
import express, { type Express, type Router } from 'express';
import { createFindReader } from '../acts/readers.ts';
import { noQuery, type RouteRequest } from '../call/call.ts';
import { identify } from '../call/caller.ts';
import { answerFailure, errorHandler } from '../failure/failure.ts';
import { identityRefused, internalCall } from '../internal-only.ts';
import type { MountedRoute, RouteContext, RouteListener } from '../route/mounted-route.ts';
import { createRouteTable, type TableRow } from '../route/route-table.ts';
import { type CallWork, tellWork } from './call-work.ts';
import { readinessBody, type ServiceReadiness, shareLook } from './readiness.ts';

export interface SurroundedCall {
  identity: Identity;
  definition: RouteDefinition;
  req: IncomingMessage;
  res: ServerResponse;
  /** What it takes. */
  taken: CallWork;
}

export interface ServiceAppOptions extends Omit<RouteContext, 'identities' | 'findReader'> {
  /** The gateway's for this service: another sender vouches for no caller. */
  gatewayKeys: readonly IdentityKey[];
  /** Epoch milliseconds. */
  now: () => number;
  routes: readonly MountedRoute[];
  /** Asked once a second. One that rejects counts as not serving. */
  ready: () => Promise<ServiceReadiness>;
  /** Further paths under /internal, for the gateway's own questions; it checks the identity itself. */
  internal?: Router;
  /** Told of each call that was answered; not of one whose answer has no end. */
  observe?: (definition: RouteDefinition, status: number, seconds: number) => void;
  /** Surrounds each call of a route: whose rows its statements reach, when it has a connection, what is counted. */
  surround?: (call: SurroundedCall, work: () => Promise<void>) => Promise<void>;
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

/**
 * Whether the gateway asks, which learns of each dependency, and whether this service can verify its identity.
 * @throws ApiError unauthenticated
 */
const isAskedByGateway = (
  identity: string | string[] | undefined,
  identities: IdentityVerifier,
): boolean => {
  if (identity === undefined) return false;
  try {
    identities.verify(identity, internalCall('GET', '/readyz'));
    return true;
  } catch (error) {
    throw error instanceof IdentityInvalid ? identityRefused(error) : error;
  }
};

/** nginx's status for a caller who left before the answer was written. */
const callerLeft = 499;

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
  observe,
  ...rest
}: ServiceAppOptions): ServiceApp => {
  const context = {
    ...rest,
    log,
    identities: createIdentityVerifier(gatewayKeys, now),
    findReader: createFindReader(routes),
  };
  const mount = ({ definition, middleware }: MountedRoute): RouteListener => {
    const answer = middleware(context);
    const surrounded: RouteListener = surround
      ? (req, res) => {
          const taken = tellWork(res);
          const identity = identify(req, definition, context);
          return surround({ identity, definition, req, res, taken }, () => answer(req, res));
        }
      : answer;
    if (!observe || definition.answers === 'events') return surrounded;
    return (req, res) => {
      const startedAt = performance.now();
      res.once('close', () => {
        const status = res.writableFinished ? res.statusCode : callerLeft;
        observe(definition, status, (performance.now() - startedAt) / 1000);
      });
      return surrounded(req, res);
    };
  };
  const findRow = createRouteTable(
    routes.map((mounted): TableRow<RouteListener> => {
      const { method, plane, path } = mounted.definition;
      return [method, plane === 'platform' ? `/platform${path}` : path, mount(mounted)];
    }),
  );
  const app = bareApp();
  app.get(['/livez', '/healthz'], (_req, res) => void res.json({ ok: true }));
  const look = shareLook(
    () => ready().catch((): ServiceReadiness => ({ isServing: false, dependencies: [] })),
    performance.now.bind(performance),
  );
  app.get('/readyz', async (req, res) => {
    const isGateway = isAskedByGateway(req.headers[identityHeader], context.identities);
    const { isServing, dependencies } = await look();
    const body = { ok: isServing, ...readinessBody(dependencies) };
    res.status(isServing ? 200 : 503).json({ ...body, ...(isGateway && { dependencies }) });
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
