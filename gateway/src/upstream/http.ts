import { KIB, type ServiceName, serviceNames } from '@backlot/contract';
import { createSilenceGuard, type SilenceGuard } from '@backlot/http';
import { unavailable } from './http-answer.ts';
import { createPoolUpstream } from './pool.ts';
import { createProxyUpstream } from './proxy.ts';
import type { OnUpstreamFailure, Upstream } from './upstream.ts';

/** More is not held here, but streamed. */
const maxHeldBytes = 64 * KIB;

/**
 * A service behind HTTP: calls with a small body or none go over undici's pool, once that is here; uploads and
 * all other bodies through http-proxy-middleware. Neither bounds its connections: a caller would wait for
 * others' slow bodies and answers, whose number the addresses' bounds hold. While the service is silent, calls
 * without an answer fail as those do whose connection breaks.
 * @param origin for example `http://auth:8081`
 */
export const createHttpUpstream = (
  origin: string,
  guard: SilenceGuard = createSilenceGuard(origin),
): Upstream => {
  const pool = createPoolUpstream(origin);
  const proxy = createProxyUpstream(origin);
  return {
    check: guard.check,
    forward(req, res, onFailure, isStreamed) {
      const { 'transfer-encoding': encoding, 'content-length': length } = req.headers;
      const isHeld = !isStreamed && encoding === undefined && Number(length ?? 0) <= maxHeldBytes;
      let isAborted = false;
      const end = guard.watch({
        hasAnswer: () => res.headersSent,
        fail(error) {
          abort();
          onFailure(unavailable(error));
        },
      });
      const fail: OnUpstreamFailure = (error, delivery) => {
        end();
        if (!isAborted) onFailure(error, delivery);
      };
      const abortCall = (isHeld ? pool : proxy).forward(req, res, fail);
      const abort = () => {
        isAborted = true;
        end();
        abortCall();
      };
      res.once('close', end);
      return abort;
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
  guards: Partial<Record<ServiceName, SilenceGuard>> = {},
): Record<ServiceName, Upstream> => {
  const entries = serviceNames.map((name) => [
    name,
    createHttpUpstream(origins[name], guards[name]),
  ]);
  return Object.fromEntries(entries) as Record<ServiceName, Upstream>;
};
