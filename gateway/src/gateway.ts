import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Bus } from '@backlot/bus';
import {
  type CreditDirectory,
  routes as contractRoutes,
  type ProjectDirectory,
  platformProject,
  type RouteDefinition,
  type ServiceName,
  type SessionDirectory,
} from '@backlot/contract';
import type { Counters } from '@backlot/counters';
import type { IdentitySecret } from '@backlot/identity';
import { createHttpMetrics, type Logger, type Registry } from '@backlot/telemetry';
import { createCachedProjects } from './directory/cached-projects.ts';
import { createCachedSessions } from './directory/cached-sessions.ts';
import { createDescription, sendDescription } from './pages/docs.ts';
import { createShell } from './pages/shell.ts';
import { createAdmit } from './steps/admit.ts';
import { anonymous, createAuthenticate } from './steps/authenticate.ts';
import { openCharge, reservationFor } from './steps/charge.ts';
import { checkSize } from './steps/check-size.ts';
import { createClientAddress } from './steps/client-address.ts';
import { createFail } from './steps/fail.ts';
import { checkServing, createFindProject } from './steps/find-project.ts';
import { createFindRoute, servicePath } from './steps/find-route.ts';
import { checkTarget } from './steps/find-target.ts';
import { createForward } from './steps/forward.ts';
import { createObserve } from './steps/observe.ts';
import { readAhead } from './steps/read-ahead.ts';
import { type CallPath, readPath } from './steps/read-path.ts';
import { requestIdOf } from './steps/request-id.ts';
import { createSignIdentity } from './steps/sign-identity.ts';
import { createStandardHeaders } from './steps/standard-headers.ts';
import type { Upstream } from './upstream/upstream.ts';

export interface GatewayConfig {
  /** `iss` of tokens. */
  issuer: string;
  /** SHA-256 of the operator's token in base64url; undefined when nobody operates. */
  operatorTokenHash: string | undefined;
  /** How many proxies in front write `X-Forwarded-For`. */
  trustedProxies: number;
  /** Base of absolute addresses, without a slash at the end. */
  publicUrl: string;
  /** A log line for every call. */
  accessLog: boolean;
}

export interface GatewayDeps {
  upstreams: Record<ServiceName, Upstream>;
  projects: ProjectDirectory;
  sessions: SessionDirectory;
  credits: CreditDirectory;
  counters: Counters;
  bus: Bus;
  identitySecret: IdentitySecret;
  /** Epoch milliseconds. */
  now: () => number;
  log: Logger;
  registry?: Registry;
  config: GatewayConfig;
  /** Content of openapi.json. */
  apiDescription: object;
  /** False while events may be lost; caches then believe nothing for long. */
  hears: () => boolean;
  /** Names what is out of reach; empty when calls can be served. */
  missing(): Promise<readonly string[]>;
  /** Names what works less well than it should, while calls are served. */
  degraded(): readonly string[];
  /** The contract's unless a test brings its own. */
  routes?: readonly RouteDefinition[];
  timeoutMs?: number;
}

export interface Gateway {
  app: RequestListener;
  /** Hears events from here on; before it nothing may be served. */
  start(): Promise<void>;
  /** Forgets what it knows of projects, keys and sessions: events may have been missed. */
  forget(): void;
  stop(): Promise<void>;
}

/** Served by the gateway itself in every project, without a look at credentials. */
const descriptionPath = '/openapi.json';

const isRead = ({ method }: IncomingMessage) => method === 'GET' || method === 'HEAD';

export const createGateway = (deps: GatewayDeps): Gateway => {
  const { config, counters, bus, identitySecret, now, log } = deps;
  const cached = createCachedProjects(deps.projects, now, deps.hears);
  const sessions = createCachedSessions(deps.sessions, {
    issuer: config.issuer,
    now,
    hears: deps.hears,
  });
  const description = createDescription(deps.apiDescription, config.publicUrl);
  const shell = createShell({ ...deps, description });

  const headers = createStandardHeaders(config.publicUrl);
  const metrics = deps.registry && createHttpMetrics(deps.registry);
  const observe = createObserve({ log, metrics, accessLog: config.accessLog });
  const addressOf = createClientAddress(config.trustedProxies);
  const findProject = createFindProject(cached.projects);
  const findRoute = createFindRoute(deps.routes ?? contractRoutes);
  const authenticate = createAuthenticate({
    sessions,
    keys: cached.keys,
    operatorTokenHash: config.operatorTokenHash,
  });
  const admit = createAdmit(counters, deps.credits, now);
  const signIdentity = createSignIdentity(identitySecret, now);
  const forward = createForward(deps.upstreams, deps.timeoutMs);
  const fail = createFail(log);

  /** A call of the API, in the order that decides which answer wins (contract section 2). */
  const handle = async (
    req: IncomingMessage,
    res: ServerResponse,
    requestId: string,
    { plane, ...at }: CallPath,
  ) => {
    const call = {
      requestId,
      operation: 'none',
      projectId: at.projectId,
      startedAt: performance.now(),
    };
    observe(res, call);

    const found = plane === 'runtime' ? findProject.byId(at.projectId) : findProject.platform();
    const place = checkServing(found instanceof Promise ? await found : found);

    const address = addressOf(req);
    if (plane === 'runtime' && at.path === descriptionPath && isRead(req)) {
      call.operation = 'getApiDescription';
      await admit(res, place, 'read', anonymous, address);
      return sendDescription(res, description.ofProject(place.id));
    }
    const inPlatformProject = plane === 'runtime' && place.id === platformProject.id;
    const { definition, targetProjectId } = findRoute(
      plane,
      req.method ?? '',
      at.path,
      inPlatformProject,
    );
    call.operation = definition.operationId;

    const known = authenticate(req, definition, place);
    const caller = known instanceof Promise ? await known : known;

    const ahead = definition.price?.needsBody ? await readAhead(req, definition) : undefined;
    const request = reservationFor(req, definition, place, ahead?.body);
    const reserved = await admit(res, place, definition.limit, caller, address, request);
    const charge =
      request && reserved !== undefined ? openCharge(res, counters, request, reserved) : undefined;
    if (res.destroyed) return charge?.cancel();

    let project = place;
    if (targetProjectId !== undefined) {
      call.projectId = targetProjectId;
      project = checkTarget(await findProject.byId(targetProjectId), caller, definition);
    }
    checkSize(req, definition);
    if (ahead?.refusal) throw ahead.refusal;

    if (res.destroyed) return charge?.cancel();
    const passed = ahead?.req ?? req;
    signIdentity(passed, { project, caller, address, requestId, charge });
    const path = servicePath(definition, at.path) + at.search;
    forward(passed, res, { definition, path, charge }, (error) => fail(req, res, error, requestId));
  };

  const app: RequestListener = (req, res) => {
    const requestId = requestIdOf(req);
    headers.set(res, requestId);
    if (req.method === 'OPTIONS') return headers.answerPreflight(res);
    try {
      const path = readPath(req.url ?? '/');
      if (!path) return shell(req, res);
      handle(req, res, requestId, path).catch((error: unknown) => fail(req, res, error, requestId));
    } catch (error) {
      fail(req, res, error, requestId);
    }
  };

  return {
    app,
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
