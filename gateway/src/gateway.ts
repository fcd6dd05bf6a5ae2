import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Bus } from '@backlot/bus';
import {
  type CreditDirectory,
  routes as contractRoutes,
  type PriceChanges,
  type ProjectDirectory,
  platformProject,
  type RouteDefinition,
  type ServiceName,
  type SessionDirectory,
  type ShapeDirectory,
} from '@backlot/contract';
import type { Counters } from '@backlot/counters';
import { largeBodyWork, toRequester } from '@backlot/fair-shares';
import { answerFailure, type DiscardBody, discardBody, type Readiness } from '@backlot/http';
import type { IdentityKey } from '@backlot/identity';
import { createHttpMetrics, type Logger, measureQueues, type Registry } from '@backlot/telemetry';
import { type NextFunction, type Request, type Response, Router } from 'express';
import type { AddressBounds } from './addresses/address-bounds.ts';
import { createAddresses } from './addresses/addresses.ts';
import type { PaceBounds } from './addresses/body-pace.ts';
import { type Clock, isPaced } from './addresses/refusal-pace.ts';
import { createAdmit } from './admission/admit.ts';
import { notAmongCallers } from './admission/budgets.ts';
import { limitToMinimum, openCharge, reservationFor } from './admission/charge.ts';
import { createCachedProjects } from './directory/cached-projects.ts';
import { createCachedSessions } from './directory/cached-sessions.ts';
import { createDocuments } from './documents/documents.ts';
import { createMcp } from './mcp/mcp.ts';
import { createDescription } from './pages/docs.ts';
import { createSystemPages } from './pages/system-pages.ts';
import { createFindRoute, servicePath } from './routing/find-route.ts';
import { type CallPath, readPath } from './routing/read-path.ts';
import { createAuthenticate, lacksScope, scopeMissing } from './steps/authenticate.ts';
import { checkHead } from './steps/check-head.ts';
import { describeTus } from './steps/describe-tus.ts';
import { checkActive, checkTarget, createFindProject } from './steps/find-project.ts';
import { createForward } from './steps/forward.ts';
import { createObserve, type Observed, takePlan } from './steps/observe.ts';
import { checkSize, createReadAhead, needsReadAhead, type ReadAhead } from './steps/read-ahead.ts';
import { createSignIdentity } from './steps/sign-identity.ts';
import { answerPreflight, createStandardHeaders } from './steps/standard-headers.ts';
import { createStartCalls } from './steps/start-calls.ts';
import type { OnFailure, Upstream } from './upstream/upstream.ts';

export interface GatewayConfig {
  /** `iss` of tokens. */
  issuer: string;
  /** SHA-256 of the operator's token in base64url; undefined when nobody operates. */
  operatorTokenHash: string | undefined;
  /** How many proxies in front write `X-Forwarded-For`. */
  trustedProxies: number;
  addressBounds: AddressBounds;
  /** Base of absolute addresses, without a slash at the end. */
  publicUrl: string;
  /** A log line for every call. */
  accessLog: boolean;
  /** Prices that differ from the contract's. */
  priceChanges: PriceChanges;
}

export interface GatewayDeps {
  upstreams: Record<ServiceName, Upstream>;
  projects: ProjectDirectory;
  sessions: SessionDirectory;
  credits: CreditDirectory;
  shapes: ShapeDirectory;
  counters: Counters;
  bus: Bus;
  /** What it signs with for each service. */
  identityKeys: readonly IdentityKey[];
  /** Epoch milliseconds. */
  now: () => number;
  log: Logger;
  registry?: Registry;
  config: GatewayConfig;
  /** Content of openapi.json. */
  apiDescription: object;
  /** False while events may be lost; caches then keep nothing for long. */
  eventsConnected: () => boolean;
  /** Of the services; asked once a second. */
  ready(): Promise<Readiness>;
  /** Names what works less well than it should, while calls are served. */
  degraded(): readonly string[];
  /** The contract's unless a test brings its own. */
  routes?: readonly RouteDefinition[];
  timeoutMs?: number;
  discardBody?: DiscardBody;
  pace?: PaceBounds;
  refusalClock?: Clock;
}

export interface Gateway {
  app: RequestListener;
  /** Whether a connection's address may have one more; one that may not has to be closed. */
  acceptConnection(socket: Socket): boolean;
  /** Subscribes to events; before it nothing may be served. */
  start(): Promise<void>;
  /** Empties the caches of projects, keys and sessions: events may have been missed. */
  forget(): void;
  stop(): Promise<void>;
}

const isRead = ({ method }: IncomingMessage) => method === 'GET' || method === 'HEAD';

export const createGateway = (deps: GatewayDeps): Gateway => {
  const { config, counters, bus, identityKeys, now, log, eventsConnected } = deps;
  const cached = createCachedProjects(deps.projects, now, eventsConnected);
  const { issuer } = config;
  const sessions = createCachedSessions(deps.sessions, { issuer, now, eventsConnected });
  const { apiDescription, shapes } = deps;
  const { publicUrl } = config;
  const description = createDescription(apiDescription, publicUrl);
  const documents = createDocuments({ apiDescription, description, shapes, publicUrl });

  const metrics = deps.registry && createHttpMetrics(deps.registry);
  const observe = createObserve({ log, metrics, accessLog: config.accessLog });
  const addresses = createAddresses({
    ...config,
    now,
    pace: deps.pace,
    registry: deps.registry,
    refusalClock: deps.refusalClock,
  });
  const { readAddress, failedLookups, countAddress, bodies } = addresses;
  const largeBodies = largeBodyWork();
  measureQueues(deps.registry, { largeBodies });
  const readAhead = createReadAhead(bodies, largeBodies);
  const findProject = createFindProject(cached.projects, failedLookups);
  const findRoute = createFindRoute(deps.routes ?? contractRoutes);
  const authenticate = createAuthenticate({
    sessions,
    keys: cached.keys,
    operatorTokenHash: config.operatorTokenHash,
    failedLookups,
    now,
  });
  const { admit, admitUnread } = createAdmit(counters, deps.credits, { now, log });
  const signIdentity = createSignIdentity(identityKeys, now);
  const startCall = createStartCalls();
  const discard = deps.discardBody ?? discardBody;
  const { upstreams, timeoutMs } = deps;
  const forward = createForward({ upstreams, bodies, discardBody: discard, timeoutMs });

  /** A call of the API, in the order that decides which answer wins. */
  const handle = async (
    req: IncomingMessage,
    res: ServerResponse,
    { plane, ...at }: CallPath,
    startedAt: number,
    onFailure: OnFailure,
  ) => {
    const call: Observed = {
      requestId: String(res.getHeader('x-request-id')),
      operation: 'none',
      projectId: at.projectId,
      startedAt,
    };
    observe(res, call);

    const address = readAddress(req);
    const found =
      plane === 'runtime' ? findProject.byId(at.projectId, address) : findProject.platform();
    const ownProject = checkActive(found instanceof Promise ? await found : found);

    const document = plane === 'runtime' && isRead(req) ? documents.find(at.path) : undefined;
    if (document) {
      call.operation = document.operation;
      const caller = await authenticate(req, document.access, ownProject, address);
      const addressCount = countAddress(ownProject, 'read', caller, address);
      const by = { caller, address, addressCount };
      const route = `GET ${at.path}`;
      await admit(res, { project: ownProject, limitClass: 'read', route, ...by });
      return documents.send(res, document, { project: ownProject, caller, address });
    }
    const inPlatformProject = plane === 'runtime' && ownProject.id === platformProject.id;
    const { definition, targetProjectId } = findRoute(
      plane,
      req.method ?? '',
      at.path,
      inPlatformProject,
    );
    call.operation = definition.operationId;
    if (definition.tellsPlan) takePlan(res, call);

    const identified = authenticate(req, definition, ownProject, address);
    const caller = identified instanceof Promise ? await identified : identified;

    const { limit: limitClass } = definition;
    const addressCount = countAddress(ownProject, limitClass, caller, address);
    const refusal = lacksScope(caller, definition)
      ? scopeMissing(caller, definition)
      : notAmongCallers(ownProject, caller, limitClass);
    const route = `${definition.method} ${definition.path}`;
    const asked = { project: ownProject, limitClass, route, caller, address, addressCount };
    const { priceChanges } = config;
    const price = (body?: unknown) =>
      refusal
        ? undefined
        : reservationFor(req, { ...asked, definition, body, priceChanges, now: now() });
    let ahead: ReadAhead | undefined;
    let isCounted = false;
    if (needsReadAhead(definition) && !refusal) {
      ({ isCounted } = await admitUnread(res, asked, () => limitToMinimum(price())));
      if (res.destroyed) return;
      const requester = toRequester({ project: ownProject, ip: address });
      ahead = await readAhead(req, res, { definition, requester, startedAt });
    }
    const calls = ahead?.calls ?? 1;
    addressCount?.weigh(calls);
    const request = price(ahead?.body);
    const reserved = await admit(res, { ...asked, calls, request, isCounted });
    const charge =
      request && reserved !== undefined ? openCharge(res, counters, request, reserved) : undefined;
    if (res.destroyed) return charge?.cancel();

    let project = ownProject;
    if (targetProjectId !== undefined) {
      call.projectId = targetProjectId;
      project = checkTarget(await findProject.byId(targetProjectId), caller, definition);
    }
    if (refusal) throw refusal;
    checkSize(req, definition);
    if (ahead?.refusal) throw ahead.refusal;

    if (res.destroyed) return charge?.cancel();
    const { userId } = caller;
    if (definition.changesCaller && userId !== null)
      res.once('finish', () => {
        if (res.statusCode < 400) sessions.forgetUser(project.number, userId);
      });
    const { requestId } = call;
    if (definition.answeredBy)
      return mcp.answer(req, res, { project, caller, requestId, message: ahead?.body });
    const passed = ahead?.req ?? req;
    signIdentity(passed, { definition, project, caller, address, requestId, charge });
    const path = servicePath(definition, at.path) + at.search;
    forward(passed, res, { definition, path, charge, address, startedAt }, onFailure);
  };

  const fail = (error: unknown, req: IncomingMessage, res: ServerResponse) => {
    const address = readAddress(req);
    const answer = () => answerFailure(req, res, error, log, () => discard(req, address));
    if (isPaced(error)) addresses.paceRefusal(address, answer);
    else answer();
  };

  const setStandardHeaders = createStandardHeaders(publicUrl);
  // A router and no app: an app gives every request and response another prototype, which costs more
  // than all the rest of Express (docs/decisions/0014).
  const pipeline = Router();
  pipeline.use((req, res, next) => {
    setStandardHeaders(req, res);
    addresses.countOpenCall(req, res);
    checkHead(req);
    const isPreflight = req.method === 'OPTIONS';
    const path = isPreflight ? undefined : readPath(req.url);
    const startedAt = performance.now();
    startCall(readAddress(req), () => {
      if (res.destroyed) return;
      if (isPreflight)
        describeTus(req, res, findProject, readAddress(req)).then(
          () => answerPreflight(req, res),
          next,
        );
      else if (path) handle(req, res, path, startedAt, next).catch(next);
      else next();
    });
  });
  const countPage = (req: IncomingMessage) => addresses.countPage(readAddress(req));
  pipeline.use(
    createSystemPages({ ...deps, description, guide: documents.general, publicUrl, countPage }),
  );
  pipeline.use((error: unknown, req: Request, res: Response, _next: NextFunction) =>
    fail(error, req, res),
  );

  const app: RequestListener = (req, res) =>
    pipeline(req as Request, res as Response, (error) => fail(error, req, res));
  const mcp = createMcp({ app, counters, publicUrl, log });

  return {
    app,
    acceptConnection: addresses.acceptConnection,
    async start() {
      await cached.listen(bus);
      await sessions.listen(bus);
    },
    forget() {
      cached.forget();
      sessions.forget();
    },
    async stop() {
      for (const upstream of Object.values(deps.upstreams)) upstream.close();
    },
  };
};
