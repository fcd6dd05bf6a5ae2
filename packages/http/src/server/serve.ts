import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import {
  type AddressInfo,
  createServer as createNetServer,
  Server as NetServer,
  type Socket,
} from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError } from '@backlot/contract';
import { answerFailure, failureBody } from '../failure/failure.ts';
import { createOpenItems } from './open-items.ts';

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
  /**
   * How long a connection without a call stays open once the process is told to stop: what its client is
   * about to send would be lost with it, and the next answer ends it anyway. Default 0.
   */
  lingerMs?: number;
  /** A connection that is not accepted is closed. */
  acceptConnection?: (socket: Socket) => boolean;
  /** From the first byte of a head, or the connection, to the head's end. Default 15,000. */
  headMs?: number;
  /** How long the body of a call that has been answered may take. Default 35,000, which leaves a refused upload its 30 s. */
  restMs?: number;
}

/** For a process of its own, whose callers come again and again: longer than between two calls of a busy one. */
export const busyLingerMs = 1000;

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

/** Node looks so often for heads and calls that are past their time. */
const maxCheckMs = 1000;

/** Time for the answer to a head that can't be read to arrive, before its connection is ended. */
const lastWordMs = 1000;

const headFailure = (code: unknown): ApiError => {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('request_timeout', 'The request did not arrive in time.');
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('request_head_too_large', 'The request head can not be read.');
    default:
      return new ApiError('invalid_header', 'The request head can not be read.');
  }
};

/** Answers where no request object exists, or its connection can't go on. */
const answerBySocket = (socket: Duplex, error: ApiError) => {
  const body = failureBody(error, '');
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    'Content-Type: application/json; charset=utf-8',
    'Access-Control-Allow-Origin: *',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  setTimeout(() => socket.destroy(), lastWordMs).unref();
};

/** Whatever is taken for a call on its way is given back when it closes: more listeners than Node's usual 10. */
const mostListeners = 20;

/**
 * Listens with limits on head size and time. While draining every answer carries Connection: close,
 * because a keep-alive socket would go on being served after server.close().
 */
export const serve = async (
  listener: RequestListener,
  options: ServeOptions,
): Promise<Listening> => {
  const { port, host, drainMs = 10_000, acceptConnection } = options;
  const { headMs = 15_000, restMs = 35_000, lingerMs = 0 } = options;
  let draining = false;
  const answering = createOpenItems<ServerResponse>();
  const server = createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      keepAliveTimeout: 65_000,
      headersTimeout: headMs,
      requestTimeout: 330_000,
      connectionsCheckingInterval: Math.min(maxCheckMs, headMs),
    },
    (req, res) => {
      if (draining) res.setHeader('Connection', 'close');
      res.setMaxListeners(mostListeners);
      const leave = answering.take(res);
      res.once('close', () => {
        leave();
        if (!req.complete) limitRest(req);
      });
      listener(req, res);
    },
  );
  /** Node reads it to its end, however slowly that comes. */
  const limitRest = (req: IncomingMessage) => {
    const timer = setTimeout(() => req.complete || req.socket.destroy(), restMs).unref();
    req.once('end', () => clearTimeout(timer));
  };
  // An expectation that nobody knows is no reason to refuse a call (RFC 9110, section 10.1.1).
  server.on('checkExpectation', (req, res) => server.emit('request', req, res));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const isAnswered = answering.all().some((res) => res.socket === socket && res.headersSent);
    if (!socket.writable || isAnswered) return void socket.destroy();
    answerBySocket(socket, headFailure(error.code));
  });
  if (acceptConnection)
    server.prependListener('connection', (socket) => {
      if (!acceptConnection(socket)) socket.destroy();
    });
  const servers = host === undefined ? await listenOnLoopback(server, port) : [server];
  if (host !== undefined) await listen(server, port, host);

  const cutOff = () => {
    const stopping = new ApiError('unavailable', 'The server is stopping. Try again shortly.', {
      retryAfterSeconds: 2,
    });
    for (const res of answering.all()) {
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
      const lingersUntil = performance.now() + lingerMs;
      const closeIdle = () => {
        if (cut?.aborted || performance.now() >= lingersUntil) server.closeIdleConnections();
      };
      const idle = setInterval(closeIdle, 100);
      const deadline = setTimeout(cutOff, drainMs);
      cut?.addEventListener('abort', cutOff, { once: true });
      if (cut?.aborted) cutOff();
      // Not the server's own close(), which closes what is idle at once.
      const close = (door: NetServer) =>
        new Promise((resolve) => NetServer.prototype.close.call(door, resolve));
      const closed = Promise.all(servers.map(close));
      closeIdle();
      await closed;
      // Its timer.
      server.close();
      clearInterval(idle);
      clearTimeout(deadline);
      cut?.removeEventListener('abort', cutOff);
    },
  };
};
