import { spawn, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { removeThrowawayServer } from './process/server-folder.ts';
import { type RunningRabbitmq, startRabbitmq } from './rabbitmq.ts';

const isRoot = process.getuid?.() === 0;
const asNobody = ['--reuid=65534', '--regid=65534', '--clear-groups'];
const canBeNobody =
  isRoot && spawnSync('setpriv', [...asNobody, 'test', '-r', import.meta.filename]).status === 0;

/** Of IPv4 and IPv6 sockets that listen: hexadecimal address and port. */
async function listening(port: number): Promise<string[]> {
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((table) => readFile(table, 'utf8')),
  );
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return tables
    .flatMap((table) => table.split('\n').map((line) => line.trim().split(/\s+/)))
    .filter(([, local, , state]) => local?.endsWith(suffix) && state === '0A')
    .map(([, local = '']) => local.split(':')[0] ?? '');
}

describe('startRabbitmq', () => {
  let parent: string;
  let server: RunningRabbitmq;
  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'backlot-rabbitmq-'));
    server = await startRabbitmq({ dataDir: join(parent, 'data'), throwaway: true });
  });
  afterAll(async () => {
    await server.stop();
    await expect(stat(join(parent, 'data'))).rejects.toMatchObject({ code: 'ENOENT' });
    await rm(parent, { recursive: true, force: true });
  });

  const manage = (method: string, path: string, body?: unknown) => {
    const { username, password } = new URL(server.url);
    return fetch(`${server.managementUrl}/api/${path}`, {
      method,
      headers: {
        authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
  };

  it('listens on 127.0.0.1 alone, below the ephemeral ports', async () => {
    expect(server.port).toBeLessThan(32_768);
    if (process.platform === 'linux') expect(await listening(server.port)).toEqual(['0100007F']);
  });

  it('keeps durable queues over kill and restart, at the same address', async () => {
    const queue = { durable: true, arguments: { 'x-queue-type': 'quorum' } };
    expect((await manage('PUT', 'queues/%2F/kept', queue)).status).toBe(201);
    await server.kill();
    await expect(manage('GET', 'queues/%2F/kept')).rejects.toThrow('fetch failed');
    await server.restart();
    const kept: unknown = await (await manage('GET', 'queues/%2F/kept')).json();
    expect(kept).toMatchObject({ name: 'kept', type: 'quorum' });
  });

  if (canBeNobody) {
    it('runs for an ordinary user, beside another; what a killed owner left can be removed', async () => {
      const open = join(parent, 'open');
      await rm(open, { recursive: true, force: true });
      await chmod(parent, 0o777);
      const source = `
        import { startRabbitmq } from ${JSON.stringify(import.meta.resolve('./rabbitmq.ts'))};
        const options = { dataDir: ${JSON.stringify(open)}, throwaway: true };
        console.log((await startRabbitmq(options)).managementUrl);
        setInterval(() => undefined, 1000);`;
      const node = [process.execPath, '--input-type=module', '--eval', source];
      const owner = spawn('setpriv', [...asNobody, ...node], {
        stdio: ['ignore', 'pipe', 'inherit'],
        detached: true,
      });
      const url = await new Promise<string>((resolve, reject) => {
        owner.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
        owner.once('exit', (code) => reject(new Error(`The owner ended with ${code}`)));
      });
      const exited = new Promise((resolve) => owner.once('exit', resolve));
      owner.kill('SIGKILL');
      await exited;
      expect((await fetch(url)).status).toBe(200);
      expect(await removeThrowawayServer(open)).toBe(true);
      await expect(fetch(url)).rejects.toThrow('fetch failed');
    });
  }
});
