import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  healthRoutes,
  platformProject,
  type RouteDefinition,
  recordRoutes,
  requestRoutes,
} from '@backlot/contract';
import { toRequester } from '@backlot/fair-shares';
import { checkCaller, refuseRole } from '@backlot/http';
import { notAmongCallers } from '../admission/budgets.ts';
import { limitToMinimum, openCharge, reservationFor } from '../admission/charge.ts';
import type { Caller } from '../directory/caller.ts';
import type { GatewayProject } from '../directory/gateway-project.ts';
import { servicePath } from '../routing/find-route.ts';
import type { CallPath } from '../routing/read-path.ts';
import { lacksScope, scopeMissing } from '../steps/caller/authenticate.ts';
import { refuseAccount, showAccount } from '../steps/caller/check-account.ts';
import { refuseSuspended } from '../steps/caller/refuse-suspended.ts';
import { asksForView, findView, refuseView, viewRefused } from '../steps/caller/view-as.ts';
import { checkSize, needsReadAhead, type ReadAhead } from '../steps/forward/read-ahead.ts';
import { type Observed, takePlan } from '../steps/observe/observe.ts';
import { asksForPreview, findPreview, keepFromCaches } from '../steps/project/find-preview.ts';
import { checkActive, checkTarget } from '../steps/project/find-project.ts';
import type { OnFailure } from '../upstream/upstream.ts';
import type { CallParts } from './call-parts.ts';
import { createOpenStream } from './open-stream.ts';
import { createSendDocument } from './send-document.ts';

const { createEventTicket } = recordRoutes;
const { getHealth } = healthRoutes;

const isOfCallLog = ({ operationId }: RouteDefinition) => requestRoutes.isOfCallLog(operationId);

const isRead = ({ method }: IncomingMessage) => method === 'GET' || method === 'HEAD';

export interface StartedCall extends CallPath {
  /** Of the clock that only goes forward, in milliseconds. */
  startedAt: number;
  onFailure: OnFailure;
  /** A stream is no open call of its address any more. */
  leaveOpenCall(): void;
}

/** A call of the API, in the order that decides which answer wins. */
export const createHandleCall = (parts: CallParts) => {
  const { config, addresses, counters, findProject, sessions, tickets, traces, now } = parts;
  const sendDocument = createSendDocument(parts);
  const openStream = createOpenStream(parts);

  /** The project of the address that was called, or the preview of it that the call asks for. */
  const findAddressed = async (
    req: IncomingMessage,
    res: ServerResponse,
    plane: CallPath['plane'],
    call: Observed,
  ): Promise<GatewayProject> => {
    const { address } = call;
    const looked =
      plane === 'runtime'
        ? findProject.byId(call.projectId, address)
        : findProject.platform(() => parts.bearsBootstrap(req));
    const found = looked instanceof Promise ? await looked : looked;
    if (found !== null && plane === 'runtime') call.project = found;
    const addressed = checkActive(found);
    if (plane !== 'runtime' || !asksForPreview(req)) return addressed;
    const preview = await findPreview(req, addressed, findProject, address);
    call.projectId = preview.id;
    call.project = preview;
    keepFromCaches(res);
    return preview;
  };

  /** Why this caller may not make this call, however it goes on. */
  const findRefusal = async (
    req: IncomingMessage,
    call: {
      definition: RouteDefinition;
      plane: CallPath['plane'];
      project: GatewayProject;
      caller: Caller;
      hasTicket: boolean;
    },
  ) => {
    const { definition, plane, project, caller, hasTicket } = call;
    const rules = await findProject.rulesFor(caller, project);
    if (lacksScope(caller, definition)) return scopeMissing(caller, definition);
    return (
      refuseRole(definition, caller.kind, caller.memberRole) ??
      (asksForView(req) ? refuseView(req, definition, caller) : undefined) ??
      refuseAccount(caller, hasTicket ? createEventTicket : definition, rules, now()) ??
      (plane === 'runtime' ? refuseSuspended(project, caller, definition) : undefined) ??
      notAmongCallers(project, caller, definition.limit)
    );
  };

  /** Counts the call and reserves its price, with its body where that decides; undefined where the caller has left. */
  const admitCall = async (
    req: IncomingMessage,
    res: ServerResponse,
    call: Observed,
    by: {
      definition: RouteDefinition;
      project: GatewayProject;
      caller: Caller;
      isRefused: boolean;
    },
  ) => {
    const { definition, project, caller, isRefused } = by;
    const { address, startedAt } = call;
    const { limit: limitClass } = definition;
    const addressCount = addresses.countAddress(project, limitClass, caller, address);
    const route = `${definition.method} ${definition.path}`;
    const asked = { project, limitClass, route, caller, address, addressCount };
    const { priceChanges } = config;
    const price = (body?: unknown) =>
      isRefused
        ? undefined
        : reservationFor(req, { ...asked, definition, body, priceChanges, now: now() });
    let ahead: ReadAhead | undefined;
    let isCounted = false;
    if (needsReadAhead(definition) && !isRefused) {
      ({ isCounted } = await parts.admitUnread(res, asked, () => limitToMinimum(price())));
      if (res.destroyed) return undefined;
      const requester = toRequester({ project, ip: address });
      ahead = await parts.readAhead(req, res, { definition, requester, startedAt });
      call.body = ahead.body;
    }
    const calls = ahead?.calls ?? 1;
    addressCount?.weigh(calls);
    const request = price(ahead?.body);
    const reserved = await parts.admit(res, { ...asked, calls, request, isCounted });
    const charge =
      request && reserved !== undefined ? openCharge(res, counters, request, reserved) : undefined;
    call.charge = charge;
    return { ahead, charge };
  };

  return async (req: IncomingMessage, res: ServerResponse, started: StartedCall): Promise<void> => {
    const { plane, startedAt, ...at } = started;
    const address = addresses.readAddress(req);
    const call: Observed = {
      requestId: String(res.getHeader('x-request-id')),
      operation: 'none',
      projectId: at.projectId,
      startedAt,
      path: at.path,
      search: at.search,
      address,
    };
    parts.observe(req, res, call);
    const ownProject = await findAddressed(req, res, plane, call);

    const isView = asksForView(req);
    const document = plane === 'runtime' && isRead(req) ? parts.documents.find(at.path) : undefined;
    if (document) {
      if (isView) throw viewRefused('does not go with descriptions of the project.');
      call.operation = document.operation;
      call.definition = { plane, path: at.path, limit: 'read' };
      const caller = await parts.authenticate(req, document.access, ownProject, address);
      call.caller = caller;
      return sendDocument(res, document, { path: at.path, project: ownProject, caller, address });
    }

    const inPlatformProject = plane === 'runtime' && ownProject.id === platformProject.id;
    const { definition, targetProjectId } = parts.findRoute(
      plane,
      req.method ?? '',
      at.path,
      inPlatformProject,
    );
    call.operation = definition.operationId;
    call.definition = definition;
    if (definition.tellsPlan) takePlan(res, call);

    const ticket = tickets.read(req, definition, ownProject, at.search);
    const credential = ticket?.credential ?? req;
    const identified = parts.authenticate(credential, definition, ownProject, address);
    let caller = identified instanceof Promise ? await identified : identified;
    call.caller = caller;

    const asked = { definition, plane, project: ownProject, caller };
    const refusal = await findRefusal(req, { ...asked, hasTicket: ticket !== undefined });
    const admitted = await admitCall(req, res, call, { ...asked, isRefused: !!refusal });
    if (!admitted) return;
    const { ahead, charge } = admitted;
    if (res.destroyed) return charge?.cancel();

    let project = ownProject;
    if (targetProjectId !== undefined) {
      call.projectId = targetProjectId;
      const found = await findProject.byId(targetProjectId);
      ({ project, caller } = checkTarget(found, caller, definition));
      call.caller = caller;
      if (!isOfCallLog(definition)) call.project = project;
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
    if (definition.answeredBy) checkCaller(definition, { caller: caller.kind });
    if (definition.operationId === createEventTicket.operationId)
      return tickets.answer(req, res, project);
    if (definition.operationId === getHealth.operationId) return parts.health.answer(res);
    if (definition.answeredBy)
      return parts.mcp.answer(req, res, { project, caller, requestId, message: ahead?.body });

    const view = isView ? await findView(req, parts.users, project.number) : undefined;
    if (view) {
      call.viewAs = view.name;
      keepFromCaches(res);
      const refusal = refuseAccount(view.caller, definition, project, now());
      if (refusal) throw refusal;
    }
    const seen = showAccount(view?.caller ?? caller, definition, now());
    const shown: Caller = view ? { ...seen, isView: true } : seen;
    if (parts.streams.isStream(definition)) {
      await ticket?.use();
      if (res.destroyed) return;
      const opening = { definition, project: ownProject, targetProjectId, credential, address };
      openStream(res, { ...opening, caller: shown });
      call.isStream = true;
      started.leaveOpenCall();
    }

    // From here on its service tells.
    call.body = undefined;
    const passed = ahead?.req ?? req;
    const traceparent = traces.traceparent(res);
    const by = { caller: shown, address, requestId, traceparent };
    parts.signIdentity(passed, { definition, project, ...by, charge });
    const path = servicePath(definition, at.path) + (ticket?.search ?? at.search);
    const forwarded = { definition, path, charge, address, startedAt };
    parts.forward(passed, res, forwarded, started.onFailure);
  };
};
