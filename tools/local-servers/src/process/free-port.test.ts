import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import { findFreePort } from './free-port.ts';

const run = promisify(execFile);
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

const from = 12_000 + Math.floor(Math.random() * 2_000);

async function listen(port: number): Promise<void> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
}

/** What another process is given, that ends before this resolves. */
async function findElsewhere(port: number): Promise<number> {
  const source = `
    import { findFreePort } from ${JSON.stringify(import.meta.resolve('./free-port.ts'))};
    console.log(await findFreePort(${port}));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', source]);
  return Number(stdout);
}

describe('a free port', () => {
  it('is not one that somebody listens on', async () => {
    const port = await findElsewhere(from);
    await listen(port);
    expect(await findFreePort(port)).toBeGreaterThan(port);
  });

  it('is given to nobody else while this process lives, though nothing listens on it', async () => {
    const port = await findFreePort(from);
    expect(await findFreePort(port)).toBeGreaterThan(port);
    expect(await findElsewhere(port)).toBeGreaterThan(port);
  });

  it('is free again when the process that it was given to has ended', async () => {
    const port = await findElsewhere(from);
    expect(await findFreePort(port)).toBe(port);
  });
});
