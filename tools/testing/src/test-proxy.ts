import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';

export interface TestProxy {
  /** The given URL by way of the proxy. */
  url: string;
  /** Ends the connections; new ones are refused until `open`. */
  shut(): void;
  open(): void;
  /** Ends the connections; new ones are taken. */
  cut(): void;
  /** From now on nothing passes, and nothing ends. */
  freeze(): void;
  close(): Promise<void>;
}

/** Stands between a client and its server, to break the connection as networks do. */
export const createTestProxy = async (target: string): Promise<TestProxy> => {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isOpen = true;
  const server = createServer((socket) => {
    if (!isOpen) return socket.destroy();
    const upstream = createConnection(Number(port), hostname);
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => undefined);
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
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
      for (const socket of sockets) socket.unpipe();
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
