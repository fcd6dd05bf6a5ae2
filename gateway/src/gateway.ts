import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { routes as contractRoutes, platformProject, showProjectName } from '@backlot/contract';
import { largeBodyWork } from '@backlot/fair-shares';
import { answerFailure, discardBody } from '@backlot/http';
import { createHttpMetrics, measureQueues } from '@backlot/telemetry';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { createAddresses } from './addresses/addresses.ts';
import { isPaced } from './addresses/refusal-pace.ts';
import { createAdmit } from './admission/admit.ts';
import { createCallLog } from './call-log/call-log.ts';
import { createNoteCalls } from './call-log/note-calls.ts';
import { createHandleCall } from './calls/handle-call.ts';
import { createCachedProjects } from './directory/cached-projects.ts';
import { createCachedSessions } from './directory/cached-sessions.ts';
import { hashToken } from './directory/hash-token.ts';
import { createDescription } from './docs/description.ts';
import { createDocuments } from './documents/documents.ts';
import type { Gateway, GatewayDeps } from './gateway-deps.ts';
import { createHealth } from './health/health.ts';
import { createMcp } from './mcp/mcp.ts';
import { createSystemPages } from './pages/system-pages.ts';
import { createFindRoute } from './routing/find-route.ts';
import { readPath } from './routing/read-path.ts';
import { checkHead } from './steps/arrival/check-head.ts';
import { describeTus } from './steps/arrival/describe-tus.ts';
import { answerPreflight, createStandardHeaders } from './steps/arrival/standard-headers.ts';
import { createStartCalls } from './steps/arrival/start-calls.ts';
import { type Credential, createAuthenticate, readBearer } from './steps/caller/authenticate.ts';
import { createIsBootstrap } from './steps/caller/bootstrap-token.ts';
import { createForward } from './steps/forward/forward.ts';
import { createOpenStreams } from './steps/forward/open-streams.ts';
import { createReadAhead } from './steps/forward/read-ahead.ts';
import { createSignIdentity } from './steps/forward/sign-identity.ts';
import { createObserve } from './steps/observe/observe.ts';
import { createTraceCalls } from './steps/observe/trace-calls.ts';
import { createFindProject } from './steps/project/find-project.ts';
import { createProjectHosts, nothingAtHost } from './steps/project/project-hosts.ts';
import { createEventTickets } from './tickets/event-tickets.ts';

export const createGateway = (deps: GatewayDeps): Gateway => {
  const { config, counters, bus, identityKeys, now, log, eventsConnected } = deps;
  const cached = createCachedProjects(deps, now, eventsConnected);
  const { issuer } = config;
  const sessions = createCachedSessions(deps.sessions, { issuer, now, eventsConnected });
  const { apiDescription, shapes } = deps;
  const { publicUrl } = config;
  const description = createDescription(apiDescription, publicUrl);
  const documents = createDocuments({ apiDescription, description, shapes, publicUrl });

  const metrics = deps.registry && createHttpMetrics(deps.registry);
  const callLog = createCallLog({ directory: deps.callLog, now, log, times: deps.callLogTimes });
  const calls = createNoteCalls(callLog, now);
  const traces = createTraceCalls(deps.tracer);
  const observe = createObserve({ log, metrics, accessLog: config.accessLog, calls, traces });
  const addresses = createAddresses({
    ...config,
    now,
    pace: deps.pace,
    registry: deps.registry,
    refusalClock: deps.refusalClock,
  });
  const { readAddress, failedLookups, bodies } = addresses;
  const streams = createOpenStreams(
    config.addressBounds,
    addresses.countRefusal,
    deps.streamStalledMs,
  );
  const largeBodies = largeBodyWork();
  measureQueues(deps.registry, { largeBodies });
  const readAhead = createReadAhead(bodies, largeBodies);
  const findProject = createFindProject(cached.projects, failedLookups);
  const findRoute = createFindRoute(deps.routes ?? contractRoutes);
  const isBootstrap = createIsBootstrap(config.operatorTokenHash);
  const bearsBootstrap = (req: Credential) => isBootstrap(hashToken(readBearer(req) ?? ''));
  const authenticate = createAuthenticate({
    sessions,
    keys: cached.keys,
    operators: cached.operators,
    isBootstrap,
    failedLookups,
    now,
  });
  const projectHosts = createProjectHosts({
    suffix: config.projectHostSuffix,
    publicUrl,
    hosts: cached.hosts,
    findProject,
    failedLookups,
  });
  const { admit, admitUnread } = createAdmit(counters, deps.credits, { now, log });
  const signIdentity = createSignIdentity(identityKeys, now);
  const startCall = createStartCalls();
  const isCountShared = () =>
    deps.servers().every(({ name, state }) => name !== 'redis' || state === 'works');
  const health = createHealth({ ...deps, registry: deps.registry });
  const tickets = createEventTickets({ identityKeys, counters, now, isCountShared });
  const discard = deps.discardBody ?? discardBody;
  const { upstreams, timeoutMs } = deps;
  const forward = createForward({ upstreams, bodies, discardBody: discard, timeoutMs });

  const handle = createHandleCall({
    config,
    addresses,
    counters,
    observe,
    traces,
    findProject,
    findRoute,
    bearsBootstrap,
    authenticate,
    sessions,
    users: deps.users,
    admit,
    admitUnread,
    readAhead,
    documents,
    tickets,
    health,
    mcp: { answer: (...call) => mcp.answer(...call) },
    streams,
    signIdentity,
    forward,
    now,
  });

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
    const leaveOpenCall = addresses.countOpenCall(req, res);
    checkHead(req);
    const isPreflight = req.method === 'OPTIONS';
    const address = readAddress(req);
    const startedAt = performance.now();
    const begin = (hostProject: string | undefined) => {
      const path = isPreflight ? undefined : readPath(req.url, hostProject);
      startCall(address, () => {
        if (res.destroyed) return;
        if (isPreflight)
          describeTus(req, res, findProject, address).then(() => answerPreflight(req, res), next);
        else if (path)
          traces.run(res, () => {
            const started = { ...path, startedAt, onFailure: next, leaveOpenCall };
            handle(req, res, started).catch(next);
          });
        else next(hostProject === undefined ? undefined : nothingAtHost(publicUrl));
      });
    };
    const hostProject = projectHosts.find(req, address);
    if (hostProject instanceof Promise) hostProject.then(begin).catch(next);
    else begin(hostProject);
  });
  const countPage = (req: IncomingMessage) => addresses.countPage(readAddress(req));
  const findApp = async (projectId: string, req: IncomingMessage) => {
    // The app of owners is the console.
    if (projectId === platformProject.id) return { name: 'Backlot', url: `${publicUrl}/console/` };
    const project = await findProject.byId(projectId, readAddress(req));
    if (project?.status !== 'active') return undefined;
    return { name: showProjectName(project.identity), url: project.home };
  };
  const servesHost = (name: string, req: IncomingMessage) =>
    projectHosts.serves(name, readAddress(req));
  const guide = documents.general;
  pipeline.use(
    createSystemPages({
      ...deps,
      health,
      description,
      guide,
      publicUrl,
      countPage,
      findApp,
      servesHost,
    }),
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
    drain: streams.drain,
    async stop() {
      streams.stop();
      await callLog.stop();
      for (const upstream of Object.values(deps.upstreams)) upstream.close();
    },
  };
};
