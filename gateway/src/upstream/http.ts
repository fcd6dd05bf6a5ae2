import { Agent, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { ApiError, type ServiceName } from '@backlot/contract';
import { createProxyMiddleware, type Plugin } from 'http-proxy-middleware';
import type { OnFailure, Upstream } from './upstream.ts';

/** Below a service's keep-alive of 65 s, so that the gateway is the one to close an idle connection. */
const idleMs = 30_000;
const maxSockets = 256;

/** Belong to one connection, not to the answer (RFC 9110, section 7.6.1). */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const copyAnswer = (from: IncomingMessage, to: ServerResponse) => {
  for (const [name, value] of Object.entries(from.headers)) {
    if (value !== undefined && !hopByHop.has(name)) to.setHeader(name, value);
  }
  to.writeHead(from.statusCode ?? 502);
  from.pipe(to);
};

const unavailable = (cause: unknown) =>
  new ApiError('unavailable', 'This part of the service is out of reach. Try again shortly.', {
    cause,
    retryAfterSeconds: 2,
  });

interface UnderWay {
  onFailure: OnFailure;
  proxyReq?: ClientRequest;
  isGivenUp: boolean;
}

/** A service behind HTTP. @param target its origin, for example `http://auth:8081`. */
export const createHttpUpstream = (target: string): Upstream => {
  const agent = new Agent({ keepAlive: true, maxSockets, maxFreeSockets: 64, timeout: idleMs });
  const calls = new WeakMap<IncomingMessage, UnderWay>();

  const wiring: Plugin = (proxy) => {
    proxy.on('proxyReq', (proxyReq, req) => {
      const call = calls.get(req);
      if (!call || call.isGivenUp) proxyReq.destroy();
      else call.proxyReq = proxyReq;
    });
    proxy.on('proxyRes', (proxyRes, req, res) => {
      if (calls.get(req)?.isGivenUp || res.headersSent) proxyRes.destroy();
      else copyAnswer(proxyRes, res);
    });
    proxy.on('error', (error, req) => {
      if (req) calls.get(req)?.onFailure(unavailable(error));
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
      const call: UnderWay = { onFailure, isGivenUp: false };
      calls.set(req, call);
      void proxy(req, res, (error?: unknown) => onFailure(unavailable(error)));
      return () => {
        call.isGivenUp = true;
        call.proxyReq?.destroy();
      };
    },
    close: () => agent.destroy(),
  };
};

/** @param origins by service */
export const createHttpUpstreams = (
  origins: Record<ServiceName, string>,
): Record<ServiceName, Upstream> => ({
  auth: createHttpUpstream(origins.auth),
  projects: createHttpUpstream(origins.projects),
  records: createHttpUpstream(origins.records),
  ai: createHttpUpstream(origins.ai),
});
