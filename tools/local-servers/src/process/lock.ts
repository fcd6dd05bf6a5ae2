import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createConnection, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface HeldLock {
  release(): Promise<void>;
}

/**
 * At most one living process of this machine holds what is named, a folder by its path; undefined when
 * one does, be it this one. The lock is a listening socket, which the operating system takes back however
 * the process ends: no pid file that could name a stranger.
 */
export async function tryLock(name: string): Promise<HeldLock | undefined> {
  const address = lockAddress(name);
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

function lockAddress(name: string): string {
  const file = `backlot-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
  if (process.platform === 'linux') return `\0${file}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\${file}`;
  return join(tmpdir(), `${file}.sock`);
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
