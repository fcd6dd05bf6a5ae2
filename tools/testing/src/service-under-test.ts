import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Identity, identityHeader } from '@backlot/identity';
import { type FindTestRoute, findTestRoute } from './find-test-route.ts';
import { signed } from './identities.ts';

export interface TestAnswer {
  status: number;
  headers: Headers;
  /** Parsed when it is JSON, else the text. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any;
}

export interface TestRequest {
  /** Signed for the service; null sends none. */
  identity?: Identity | null;
  /** Sent as JSON, unless it is a string or bytes already. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Aborted when the caller leaves. */
  signal?: AbortSignal;
}

export interface ServiceUnderTest {
  url: string;
  call(method: string, path: string, request?: TestRequest): Promise<TestAnswer>;
  stop(): Promise<void>;
}

const encode = (body: unknown): RequestInit['body'] => {
  if (body === undefined) return null;
  return typeof body === 'string' || body instanceof Uint8Array
    ? (body as string)
    : JSON.stringify(body);
};

/**
 * Lets an app listen on a port of its own and calls it as the gateway would.
 * @param now the app's clock: identities are signed by it
 * @param findRoute for an app with routes that are not the contract's
 */
export const serveForTest = async (
  listener: RequestListener,
  now: () => number = Date.now,
  findRoute: FindTestRoute = findTestRoute,
): Promise<ServiceUnderTest> => {
  const server = createServer(listener);
  // As a service's own: on a busy machine a test may take longer between two calls than Node's 5 s.
  server.keepAliveTimeout = 65_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async call(method, path, { identity = null, body, headers = {}, signal = null } = {}) {
      const response = await fetch(url + path, {
        method,
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(identity
            ? { [identityHeader]: signed(identity, findRoute(method, path), now()) }
            : {}),
          ...headers,
        },
        body: encode(body) ?? null,
        redirect: 'manual',
        signal,
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json');
      return {
        status: response.status,
        headers: response.headers,
        body: isJson ? JSON.parse(text) : text,
      };
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
