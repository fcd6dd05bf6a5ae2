import { KIB, type ServiceName, serviceNames } from '@backlot/contract';
import { createPoolUpstream } from './pool.ts';
import { createProxyUpstream } from './proxy.ts';
import type { Upstream } from './upstream.ts';

/** More is not held here, but streamed. */
const maxHeldBytes = 64 * KIB;

/**
 * A service behind HTTP: calls with a small body or none go over undici's pool, once that is here; uploads and
 * all other bodies through http-proxy-middleware. Neither bounds its connections: a caller would wait for
 * others' slow bodies and answers, whose number the addresses' bounds hold.
 * @param origin for example `http://auth:8081`
 */
export const createHttpUpstream = (origin: string): Upstream => {
  const pool = createPoolUpstream(origin);
  const proxy = createProxyUpstream(origin);
  return {
    forward(req, res, onFailure, isStreamed) {
      const { 'transfer-encoding': encoding, 'content-length': length } = req.headers;
      const isHeld = !isStreamed && encoding === undefined && Number(length ?? 0) <= maxHeldBytes;
      return (isHeld ? pool : proxy).forward(req, res, onFailure);
    },
    close() {
      pool.close();
      proxy.close();
    },
  };
};

/** @param origins by service */
export const createHttpUpstreams = (
  origins: Record<ServiceName, string>,
): Record<ServiceName, Upstream> => {
  const entries = serviceNames.map((name) => [name, createHttpUpstream(origins[name])]);
  return Object.fromEntries(entries) as Record<ServiceName, Upstream>;
};
