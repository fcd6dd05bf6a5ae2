import { createServer } from 'node:net';
import { tryLock } from './lock.ts';

/** From here on the kernel hands ports to outgoing connections, which could take ours away. */
const firstEphemeralPort = 32_768;

/**
 * The first port from `from` on that nothing listens on at 127.0.0.1. Until this process ends nobody
 * else is given it, be its server not up yet or down for a restart.
 */
export async function findFreePort(from: number): Promise<number> {
  for (let port = from; port < firstEphemeralPort; port += 1) {
    const held = await tryLock(`port ${port}`);
    if (held === undefined) continue;
    if (await isFree(port)) return port;
    await held.release();
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
