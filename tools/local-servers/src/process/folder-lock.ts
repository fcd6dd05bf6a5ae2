import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createConnection, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface HeldFolder {
  release(): Promise<void>;
}

/**
 * At most one living process holds a folder; undefined when another one does. The lock is a
 * listening socket, which the operating system takes back however the process ends: no pid file
 * that could name a stranger.
 */
export async function tryHoldFolder(dir: string): Promise<HeldFolder | undefined> {
  const address = lockAddress(dir);
  let server = await tryListen(address);
  if (server === undefined && !address.startsWith('\0') && !(await answers(address))) {
    await rm(address, { force: true });
    server = await tryListen(address);
  }
  if (server === undefined) return undefined;
  const held = server;
  return {
    release: () => new Promise((resolve) => held.close(() => resolve())),
  };
}

function lockAddress(dir: string): string {
  const name = `backlot-${createHash('sha256').update(dir).digest('hex').slice(0, 32)}`;
  if (process.platform === 'linux') return `\0${name}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\${name}`;
  return join(tmpdir(), `${name}.sock`);
}

function tryListen(address: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.unref();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(address, () => resolve(server));
  });
}

function answers(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(address);
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}
