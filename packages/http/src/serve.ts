import { createServer, type RequestListener, type Server } from 'node:http';

export interface Listening {
  port: number;
  server: Server;
  /** Refuses new connections, lets calls under way finish, cuts what is left at the deadline. */
  stop(): Promise<void>;
}

export interface ServeOptions {
  port: number;
  /** All addresses unless one is named. */
  host?: string | undefined;
  /** After this the remaining connections are cut. Default 10,000. */
  drainMs?: number;
}

/** Contract section 2. */
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
  const server = createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      keepAliveTimeout: 65_000,
      headersTimeout: 20_000,
      requestTimeout: 330_000,
    },
    (req, res) => {
      if (draining) res.setHeader('Connection', 'close');
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
    const body = JSON.stringify({
      error: 'The request head can not be read.',
      code,
      requestId: '',
    });
    return socket.end(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    port: address.port,
    server,
    stop: () =>
      new Promise((resolve) => {
        draining = true;
        const idle = setInterval(() => server.closeIdleConnections(), 100);
        const deadline = setTimeout(() => server.closeAllConnections(), options.drainMs ?? 10_000);
        server.close(() => {
          clearInterval(idle);
          clearTimeout(deadline);
          resolve();
        });
      }),
  };
};
