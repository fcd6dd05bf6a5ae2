import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { answersWith } from './process/exchange.ts';
import { removeThrowawayServer } from './process/server-folder.ts';
import { type RedisOptions, startRedis } from './redis.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function newPath(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'backlot-redis-'));
  cleanups.push(() => rm(parent, { recursive: true, force: true }));
  return join(parent, 'data');
}

async function start(options: RedisOptions) {
  const server = await startRedis(options);
  cleanups.push(() => server.stop());
  return server;
}

/** Whether the server gives this answer to inline commands, sent with its password. */
function answers(url: string, commands: string[], expected: string): Promise<boolean> {
  const { port, password } = new URL(url);
  const sent = [`AUTH ${password}`, ...commands].map((line) => `${line}\r\n`).join('');
  return answersWith(Number(port), sent, (answer) => answer.toString() === `+OK\r\n${expected}`);
}

const asNobody = ['--reuid=65534', '--regid=65534', '--clear-groups'];
const canBeNobody =
  process.getuid?.() === 0 &&
  spawnSync('setpriv', [...asNobody, 'test', '-r', import.meta.filename]).status === 0;

/** Another process that starts a server and holds it until it is killed. */
async function startOwner(dataDir: string, prefix: string[] = []) {
  const source = `
    import { startRedis } from ${JSON.stringify(import.meta.resolve('./redis.ts'))};
    console.log((await startRedis({ dataDir: ${JSON.stringify(dataDir)}, throwaway: true })).url);
    setInterval(() => undefined, 1000);`;
  const [file = process.execPath, ...args] = [
    ...prefix,
    process.execPath,
    '--input-type=module',
    '--eval',
    source,
  ];
  const owner = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  cleanups.push(() => kill(owner));
  const url = await new Promise<string>((resolve, reject) => {
    owner.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
    owner.once('exit', (code) => reject(new Error(`The owner ended with ${code}`)));
  });
  return { owner, url };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exited;
}

describe('startRedis', () => {
  it('asks for the password, below the ephemeral ports, and keeps its files from others', async () => {
    const dataDir = await newPath();
    const { url, port } = await start({ dataDir, throwaway: true });
    expect(port).toBeLessThan(32_768);
    expect(await answersWith(port, 'PING\r\n', (b) => b.toString().startsWith('-NOAUTH'))).toBe(
      true,
    );
    expect(await answers(url, ['PING'], '+PONG\r\n')).toBe(true);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
    expect(await readFile(join(dataDir, 'redis.conf'), 'utf8')).toContain('bind 127.0.0.1');
  });

  it('is empty after a kill and a restart, at the same address', async () => {
    const server = await start({ dataDir: await newPath(), throwaway: true });
    expect(await answers(server.url, ['SET k v', 'GET k'], '+OK\r\n$1\r\nv\r\n')).toBe(true);
    await server.kill();
    expect(await answers(server.url, ['PING'], '+PONG\r\n')).toBe(false);
    await server.restart();
    expect(await answers(server.url, ['GET k'], '$-1\r\n')).toBe(true);
    await server.restart();
    expect(await answers(server.url, ['PING'], '+PONG\r\n')).toBe(true);
  });

  it('removes a throwaway folder when it stops, and leaves a kept one', async () => {
    const [thrown, kept] = [await newPath(), await newPath()];
    const servers = await Promise.all([
      start({ dataDir: thrown, throwaway: true }),
      start({ dataDir: kept }),
    ]);
    await Promise.all(servers.map((server) => server.stop()));
    await expect(stat(thrown)).rejects.toMatchObject({ code: 'ENOENT' });
    await stat(kept);
    await expect(start({ dataDir: kept, throwaway: true })).rejects.toThrow('holds kept redis');
    await expect(servers[0]?.restart()).rejects.toThrow('stopped for good');
  });

  it('touches no folder that holds something else, and none that is in use', async () => {
    const dataDir = await newPath();
    await mkdir(dataDir);
    await writeFile(join(dataDir, 'thesis.txt'), 'irreplaceable');
    await expect(start({ dataDir, throwaway: true })).rejects.toThrow('neither empty nor');
    expect(await removeThrowawayServer(dataDir)).toBe(false);
    const used = await newPath();
    await start({ dataDir: used });
    await expect(start({ dataDir: used })).rejects.toThrow('in use by another running process');
  });

  it('refuses a given port that is taken, with what the server said', async () => {
    const stranger = createServer((socket) => socket.destroy());
    cleanups.push(() => new Promise((resolve) => stranger.close(resolve)));
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    const address = stranger.address();
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    const starting = start({ dataDir: await newPath(), throwaway: true, port: address.port });
    await expect(starting).rejects.toThrow('Address already in use');
  });

  it('ends the server that a killed owner left, and removes its folder', async () => {
    const dataDir = await newPath();
    const { owner, url } = await startOwner(dataDir);
    expect(await removeThrowawayServer(dataDir)).toBe(false);
    await kill(owner);
    expect(await answers(url, ['PING'], '+PONG\r\n')).toBe(true);
    expect(await removeThrowawayServer(dataDir)).toBe(true);
    expect(await answers(url, ['PING'], '+PONG\r\n')).toBe(false);
    await expect(stat(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  if (canBeNobody) {
    it('runs for an ordinary user', async () => {
      const dataDir = await newPath();
      await chmod(join(dataDir, '..'), 0o777);
      const { owner, url } = await startOwner(dataDir, ['setpriv', ...asNobody]);
      expect(await answers(url, ['PING'], '+PONG\r\n')).toBe(true);
      expect((await stat(dataDir)).uid).toBe(65_534);
      await kill(owner);
      expect(await removeThrowawayServer(dataDir)).toBe(true);
    });
  }
});
