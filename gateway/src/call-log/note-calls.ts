import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError, platformProject, type RouteDefinition } from '@backlot/contract';
import type { Charge } from '../admission/charge.ts';
import type { Caller } from '../directory/caller.ts';
import type { GatewayProject } from '../directory/gateway-project.ts';
import type { CallLog } from './call-log.ts';
import { showAddress } from './clean.ts';
import { type FailedAnswer, hearAnswer, type Work } from './heard-answer.ts';
import { toLine } from './to-line.ts';

/** What a call's log line is made of, as far as the call has come. */
export interface NotedCall {
  requestId: string;
  /** operationId; `none` for no route. */
  operation: string;
  path: string;
  search: string;
  address: string;
  /** Whose log it stands in: the project that the caller may see. None is noted without it. */
  project?: GatewayProject;
  definition?: Pick<RouteDefinition, 'path' | 'plane'> & Partial<Pick<RouteDefinition, 'limit'>>;
  caller?: Caller;
  charge?: Charge | undefined;
  /** Read here, and not forwarded yet. */
  body?: unknown;
  failed?: FailedAnswer;
  /** As its service says. */
  work?: Work;
  /** Written on its connection before it. */
  bytesBefore?: number;
  /** Read on it, where the length of the body is not said, or says much. */
  readBefore?: number;
}

export interface NoteCalls {
  begin(req: IncomingMessage, res: ServerResponse, call: NotedCall): void;
  end(
    req: IncomingMessage,
    res: ServerResponse,
    call: NotedCall,
    ended: { status: number; durationMs: number },
  ): void;
}

const ofNoProject = ({ definition }: NotedCall) =>
  definition?.plane === 'platform' ? platformProject.number : 0;

/** A caller may say anything of a body that is refused. */
const believedBytes = 64 * 1024;

const readBytes = (headers: IncomingHttpHeaders, socket: Socket, { readBefore }: NotedCall) => {
  if (readBefore !== undefined) return Math.max(0, socket.bytesRead - readBefore);
  return Math.max(0, Number(headers['content-length'] ?? 0) || 0);
};

/** Hands each call of a project to the log, once it has ended. */
export const createNoteCalls = (callLog: CallLog, now: () => number): NoteCalls => {
  const sent = (socket: Socket) => socket.bytesWritten ?? 0;
  return {
    begin(req, res, call) {
      call.bytesBefore = sent(req.socket);
      const { 'transfer-encoding': encoding, 'content-length': length } = req.headers;
      if (encoding !== undefined || Number(length ?? 0) > believedBytes)
        call.readBefore = req.socket.bytesRead ?? 0;
      hearAnswer(res, call);
    },
    end({ method = '', headers, socket }, res, call, { status, durationMs }) {
      const { project } = call;
      const responseBytes = Math.max(0, sent(socket) - (call.bytesBefore ?? 0));
      callLog.sum({
        projectNumber: project?.number ?? ofNoProject(call),
        operation: call.operation,
        network: showAddress(call.address),
        status,
        bytes: responseBytes + readBytes(headers, socket, call),
        databaseUs: call.work?.databaseUs ?? 0,
        threadUs: call.work?.threadUs ?? 0,
      });
      if (!project || project.number === platformProject.number || project.status === 'deleted')
        return;
      const { requestId, path, search, address, definition, caller, charge, failed, body } = call;
      const { errored } = res;
      const line = {
        at: now() - durationMs,
        requestId,
        method,
        path,
        search,
        definition,
        status,
        durationMs,
        usedMillicredits: charge ? charge.used() : 0,
        contentLength: headers['content-length'],
        responseBytes,
        caller,
        address,
        origin: headers.origin,
        failed,
        cutOff: errored instanceof ApiError ? errored : undefined,
        body,
      };
      callLog.note(project, status >= 400, () => toLine(line));
    },
  };
};
