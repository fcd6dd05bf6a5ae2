import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';

export interface TestProxy {
  /** The given URL by way of the proxy. */
  url: string;
  /** Ends the connections; new ones are refused until `open`. */
  shut(): void;
  open(): void;
  /** Ends the connections; new ones are taken. */
  cut(): void;
  /** From now on nothing passes, also on new connections, and nothing ends. */
  freeze(): void;
  /** What was sent meanwhile goes on. */
  thaw(): void;
  /** The connections of now end; the server's first word on new ones comes so much later. */
  greetLate(delayMs: number): void;
  /** The connections of now pass nothing for good; new ones work. */
  forget(): void;
  close(): Promise<void>;
}

/** Stands between a client and its server, to break the connection as networks do. */
export const createTestProxy = async (target: string): Promise<TestProxy> => {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  /** Both directions of each connection. */
  const directions = new Set<readonly [from: Socket, to: Socket]>();
  let isOpen = true;
  let isFrozen = false;
  let greetingDelayMs = 0;
  // Paused, so that what comes while nothing passes is kept by the kernel.
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    if (!isOpen) return socket.destroy();
    const upstream = createConnection(Number(port), hostname);
    for (const direction of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      const [from, to] = direction;
      sockets.add(from);
      directions.add(direction);
      const delayMs = from === upstream ? greetingDelayMs : 0;
      if (!isFrozen && delayMs === 0) from.pipe(to);
      else if (!isFrozen) setTimeout(() => from.pipe(to), delayMs).unref();
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        directions.delete(direction);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const stopPassing = () => {
    for (const [from] of directions) from.unpipe();
  };
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    shut() {
      isOpen = false;
      cut();
    },
    open() {
      isOpen = true;
    },
    cut,
    freeze() {
      isFrozen = true;
      stopPassing();
    },
    thaw() {
      isFrozen = false;
      for (const [from, to] of directions) from.pipe(to);
    },
    greetLate(delayMs) {
      isFrozen = false;
      greetingDelayMs = delayMs;
      cut();
    },
    forget() {
      stopPassing();
      directions.clear();
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
