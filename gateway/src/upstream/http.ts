import { recordBodyLimitBytes, type ServiceName, serviceNames } from '@backlot/contract';
import { createPoolUpstream } from './pool.ts';
import { createProxyUpstream } from './proxy.ts';
import type { Upstream } from './upstream.ts';

const usualConnections = 256;
/** An answer of a model takes a connection for as long as it streams. */
const modelConnections = 4096;

/**
 * A service behind HTTP: JSON calls go over undici's pool, uploads and bodies of undeclared length
 * through http-proxy-middleware. @param origin for example `http://auth:8081`
 * @param connections at most, for JSON calls
 */
export const createHttpUpstream = (origin: string, connections = usualConnections): Upstream => {
  const pool = createPoolUpstream(origin, connections);
  const proxy = createProxyUpstream(origin);
  return {
    forward(req, res, onFailure) {
      const { 'transfer-encoding': encoding, 'content-length': length } = req.headers;
      const isSmall = encoding === undefined && Number(length ?? 0) <= recordBodyLimitBytes;
      return (isSmall ? pool : proxy).forward(req, res, onFailure);
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
  const entries = serviceNames.map((name) => [
    name,
    createHttpUpstream(origins[name], name === 'ai' ? modelConnections : undefined),
  ]);
  return Object.fromEntries(entries) as Record<ServiceName, Upstream>;
};
