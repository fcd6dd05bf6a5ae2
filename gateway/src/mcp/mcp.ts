import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { ApiError, hasScope, mcpRoutes } from '@backlot/contract';
import type { Counters } from '@backlot/counters';
import { validate } from '@backlot/http';
import type { Logger } from '@backlot/telemetry';
import type { Caller } from '../directory/caller.ts';
import { type GatewayProject, windowMs } from '../directory/gateway-project.ts';
import { createOwnCalls } from './own-calls.ts';
import type { OfferedTools } from './protocol.ts';
import type { Tool, ToolContext } from './tool.ts';
import { answerError, CallFailed, fence, type ToolAnswer } from './tool-answers.ts';
import { describeTool, readInput } from './tool-inputs.ts';
import { tools } from './tools.ts';

export interface McpOptions {
  /** The whole gateway, to which tools send their calls. */
  app: RequestListener;
  counters: Counters;
  publicUrl: string;
  log: Logger;
}

export interface McpCall {
  project: GatewayProject;
  caller: Caller;
  requestId: string;
  /** The body; undefined where it is no JSON. */
  message: unknown;
}

export interface Mcp {
  /** @throws ApiError invalid_json, invalid_body */
  answer(req: IncomingMessage, res: ServerResponse, call: McpCall): Promise<void>;
}

/** Calls of tools, for each caller in a project. */
const callsPerMinute = 60;

/** What a tool reads to make its answer from. */
const maxReadBytes = 1024 * 1024;

const isOpen = ({ key }: Caller, { scope }: Tool) => key === null || hasScope(key.scopes, scope);

const notOpen = ({ scope }: Tool) =>
  new ApiError('forbidden', `This tool takes a key with the scope "${scope}".`, {
    hint: 'The owner of the project can make one. Do not ask for more than you need.',
  });

const callerName = ({ kind, key, userId }: Caller) => key?.id ?? userId ?? kind;

/** Headers that the protocol reads. */
const isOfProtocol = (name: string) =>
  name.startsWith('mcp-') || name === 'accept' || name === 'content-type';

const toRequest = ({ headers }: IncomingMessage, signal: AbortSignal): Request => {
  const passed = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    isOfProtocol(name) && value !== undefined ? [[name, String(value)]] : [],
  );
  return new Request('http://gateway/mcp', { method: 'POST', headers: passed, signal });
};

/** @throws ApiError invalid_json, invalid_body */
const checkMessage = (message: unknown): void => {
  if (message === undefined) throw new ApiError('invalid_json', 'The body is no valid JSON.');
  if (Array.isArray(message))
    throw new ApiError('invalid_body', 'Send one JSON-RPC message; batches are not taken.');
  const { method } = validate(mcpRoutes.callTools.body, message, 'invalid_body') as {
    method: string;
  };
  if (method === 'subscriptions/listen')
    throw new ApiError(
      'invalid_body',
      'There is nothing to subscribe to: the tools do not change.',
    );
};

/** A project's tools for coding agents. They do what their caller may do, by the calls of the API. */
export const createMcp = ({ app, counters, publicUrl, log }: McpOptions): Mcp => {
  const send = createOwnCalls(app);

  /** @throws ApiError rate_limited */
  const countCall = async ({ project, caller }: McpCall) => {
    const key = `${project.admission.read.callerKeyPrefix}mcp:${callerName(caller)}`;
    const check = { key, limit: callsPerMinute, windowMs };
    const { allowed, retryAfterMs } = await counters.admit([check]);
    if (allowed) return;
    throw new ApiError('rate_limited', `Tools may be called ${callsPerMinute} times a minute.`, {
      retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1000)),
    });
  };

  const createContext = (
    req: IncomingMessage,
    call: McpCall,
    signal: AbortSignal,
  ): ToolContext => ({
    projectId: call.project.id,
    baseUrl: `${publicUrl}/api/runtime/${call.project.id}`,
    async call(method, path, body, headers) {
      const { requestId } = call;
      const options = { caller: req, requestId, signal, maxBytes: maxReadBytes };
      const answer = await send({ method, path, body, headers }, options);
      if (answer.status < 400) return answer.text;
      throw new CallFailed(answer.text, answer.retryAfterSeconds);
    },
  });

  const use = async (tool: Tool, input: unknown, call: McpCall, context: ToolContext) => {
    try {
      await countCall(call);
      if (!isOpen(call.caller, tool)) throw notOpen(tool);
      return fence(await tool.run(readInput(tool, input), context));
    } catch (error) {
      const { requestId } = call;
      if (!(error instanceof ApiError || error instanceof CallFailed))
        log.error({ requestId, tool: tool.name, err: error }, 'a tool failed');
      return answerError(error, requestId);
    }
  };

  return {
    async answer(req, res, call) {
      checkMessage(call.message);
      const gone = new AbortController();
      res.once('close', () => gone.abort());
      const context = createContext(req, call, gone.signal);
      const offered: OfferedTools = {
        list: tools.filter((tool) => isOpen(call.caller, tool)).map(describeTool),
        async call(name, input): Promise<ToolAnswer | undefined> {
          const tool = tools.find((candidate) => candidate.name === name);
          return tool && use(tool, input, call, context);
        },
      };
      // Loaded with the first call: most gateways never have one.
      const { answerMessage } = await import('./protocol.ts');
      const request = toRequest(req, gone.signal);
      const { requestId } = call;
      const response = await answerMessage(request, call.message, offered, (error) =>
        log.debug({ requestId, error: error.message }, 'a message of an agent was refused'),
      );
      const body = Buffer.from(await response.arrayBuffer());
      if (res.destroyed) return;
      res.writeHead(response.status, {
        'Content-Type': response.headers.get('content-type') ?? 'application/json',
        'Content-Length': body.length,
      });
      res.end(body);
    },
  };
};
