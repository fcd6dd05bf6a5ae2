import { createServer } from 'node:net';

/** From here on the kernel hands ports to outgoing connections, which could take ours away. */
const firstEphemeralPort = 32_768;

/** The first port from `from` on that nothing listens on at 127.0.0.1. */
export async function findFreePort(from: number): Promise<number> {
  for (let port = from; port < firstEphemeralPort; port += 1) {
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port between ${from} and ${firstEphemeralPort - 1}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => resolve(true));
    });
  });
}
