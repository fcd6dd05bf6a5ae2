import { Agent, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { freeWhenSent } from '@backlot/http';
import { createProxyMiddleware, type Plugin } from 'http-proxy-middleware';
import { answerHeaders, identityRefusal, unavailable } from './http-answer.ts';
import type { OnUpstreamFailure, Upstream } from './upstream.ts';

/** Below a service's keep-alive of 65 s, so that the gateway is the one to close an idle connection. */
const idleMs = 30_000;

interface ProxiedCall {
  onFailure: OnUpstreamFailure;
  proxyReq?: ClientRequest;
  /** No connection has opened for it; absent where nobody looked. */
  isUnsent?: boolean;
  isAborted: boolean;
}

const copyAnswer = (from: IncomingMessage, to: ServerResponse) => {
  to.writeHead(from.statusCode ?? 502, answerHeaders(from.headers));
  // The caller may have left; the rest is read all the same, or it keeps its connection.
  if (to.destroyed) return void from.resume();
  from.pipe(to);
  to.once('close', () => from.resume());
};

/** The proxy ends a call with its caller; once the service has the whole body, the gateway decides. */
const outlastCaller = (proxyReq: ClientRequest, req: IncomingMessage, call: ProxiedCall) => {
  const destroy = proxyReq.destroy.bind(proxyReq);
  proxyReq.destroy = (error) =>
    error || call.isAborted || !req.complete ? destroy(error) : proxyReq;
};

/** Nothing travels on a connection before it is open; one that was used before is. */
const noteSending = ({ socket }: ClientRequest, call: ProxiedCall) => {
  call.isUnsent = socket?.connecting === true;
  socket?.once('connect', () => {
    call.isUnsent = false;
  });
};

/** A service behind HTTP, for bodies of any size and length. @param target its origin, for example `http://auth:8081`. */
export const createProxyUpstream = (target: string): Upstream => {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 64, timeout: idleMs });
  const calls = new WeakMap<IncomingMessage, ProxiedCall>();

  const wiring: Plugin = (proxy) => {
    proxy.on('proxyReq', (proxyReq, req) => {
      const call = calls.get(req);
      if (!call || call.isAborted) proxyReq.destroy();
      else {
        call.proxyReq = proxyReq;
        noteSending(proxyReq, call);
        // Or the service closes under an upload that it refuses on its way, and its answer is lost.
        proxyReq.setHeader('connection', 'keep-alive');
        freeWhenSent(proxyReq);
        outlastCaller(proxyReq, req, call);
      }
    });
    proxy.on('proxyRes', (proxyRes, req, res) => {
      const call = calls.get(req);
      const refusal = identityRefusal(proxyRes.headers);
      if (refusal || call?.isAborted || res.headersSent) proxyRes.destroy();
      else copyAnswer(proxyRes, res);
      if (refusal) call?.onFailure(refusal, 'undelivered');
    });
    proxy.on('error', (error, req) => {
      const call = req && calls.get(req);
      call?.onFailure(unavailable(error), call.isUnsent ? 'undelivered' : undefined);
    });
  };
  const proxy = createProxyMiddleware({
    target,
    agent,
    selfHandleResponse: true,
    ejectPlugins: true,
    plugins: [wiring],
  });

  return {
    forward(req, res, onFailure) {
      const call: ProxiedCall = { onFailure, isAborted: false };
      calls.set(req, call);
      void proxy(req, res, (error?: unknown) => onFailure(unavailable(error)));
      return () => {
        call.isAborted = true;
        call.proxyReq?.destroy();
      };
    },
    close: () => agent.destroy(),
  };
};
