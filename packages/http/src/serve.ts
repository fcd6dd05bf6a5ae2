import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import {
  type AddressInfo,
  createServer as createNetServer,
  type Server as NetServer,
} from 'node:net';
import { ApiError } from '@backlot/contract';
import { answerFailure, failureBody } from './failure.ts';

export interface Listening {
  port: number;
  server: Server;
  /**
   * Refuses new connections and lets calls under way finish. What is left at the deadline, or when `cut`
   * is aborted, is answered 503 where its answer has not begun, and cut off elsewhere.
   */
  stop(cut?: AbortSignal): Promise<void>;
}

export interface ServeOptions {
  port: number;
  /** Without it 127.0.0.1 and ::1, which only this machine reaches; `::` is every address. */
  host?: string | undefined;
  /** How long calls under way may take once the process is told to stop. Default 10,000. */
  drainMs?: number;
}

const listen = (server: NetServer, port: number, host: string) =>
  new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    // Without an address Node takes `::`, or 0.0.0.0 where the machine has no IPv6.
    server.listen({ port, ...(host !== '::' && { host }) }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });

const errorCode = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : '');

/** Listens on both loopback addresses, so that `localhost` works whichever a client tries. */
const listenOnLoopback = async (server: Server, port: number): Promise<NetServer[]> => {
  const ipv6 = createNetServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    server.emit('connection', socket),
  );
  const chosen = await listen(server, port, '127.0.0.1');
  try {
    await listen(ipv6, chosen, '::1');
    return [server, ipv6];
  } catch (error) {
    if (['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(String(errorCode(error)))) return [server];
    await new Promise((resolve) => server.close(resolve));
    // A port that the system chose for one address may be taken on the other.
    if (port === 0 && errorCode(error) === 'EADDRINUSE') return listenOnLoopback(server, port);
    throw error;
  }
};

/** Time for the last answers to leave. */
const lastAnswersMs = 500;

const maxHeaderBytes = 32 * 1024;

/**
 * Listens with limits on head size and time. While draining every answer carries Connection: close,
 * because a keep-alive socket would go on being served after server.close().
 */
export const serve = async (
  listener: RequestListener,
  options: ServeOptions,
): Promise<Listening> => {
  let draining = false;
  const answering = new Set<ServerResponse>();
  const server = createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      keepAliveTimeout: 65_000,
      headersTimeout: 20_000,
      requestTimeout: 330_000,
    },
    (req, res) => {
      if (draining) res.setHeader('Connection', 'close');
      answering.add(res);
      res.once('close', () => answering.delete(res));
      listener(req, res);
    },
  );
  // An expectation that nobody knows is no reason to refuse a call (RFC 9110, section 10.1.1).
  server.on('checkExpectation', (req, res) => server.emit('request', req, res));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable) return socket.destroy();
    const status =
      error.code === 'HPE_HEADER_OVERFLOW'
        ? '431 Request Header Fields Too Large'
        : '400 Bad Request';
    const code = error.code === 'HPE_HEADER_OVERFLOW' ? 'request_head_too_large' : 'invalid_header';
    const body = failureBody(new ApiError(code, 'The request head can not be read.'), '');
    return socket.end(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
  const { port, host, drainMs = 10_000 } = options;
  const servers = host === undefined ? await listenOnLoopback(server, port) : [server];
  if (host !== undefined) await listen(server, port, host);

  const cutOff = () => {
    const stopping = new ApiError('unavailable', 'The server is stopping. Try again shortly.', {
      retryAfterSeconds: 2,
    });
    for (const res of answering) {
      if (!res.headersSent) res.setHeader('Connection', 'close');
      answerFailure(res.req, res, stopping, { error: () => {} });
    }
    setTimeout(() => server.closeAllConnections(), lastAnswersMs).unref();
  };
  return {
    port: (server.address() as AddressInfo).port,
    server,
    async stop(cut) {
      draining = true;
      const idle = setInterval(() => server.closeIdleConnections(), 100);
      const deadline = setTimeout(cutOff, drainMs);
      cut?.addEventListener('abort', cutOff, { once: true });
      if (cut?.aborted) cutOff();
      await Promise.all(servers.map((door) => new Promise((resolve) => door.close(resolve))));
      clearInterval(idle);
      clearTimeout(deadline);
      cut?.removeEventListener('abort', cutOff);
    },
  };
};
