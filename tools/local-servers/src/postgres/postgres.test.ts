import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { readServerPid } from '../process/leftover-server.ts';
import { removeThrowaway, startPostgres } from './postgres.ts';

const cleanups: (() => unknown)[] = [];
const isRoot = process.getuid?.() === 0;
const asNobody = ['--reuid=65534', '--regid=65534', '--clear-groups'];
/** Only root can become an ordinary user, who then has to be able to read the checkout. */
const canBeNobody =
  isRoot && spawnSync('setpriv', [...asNobody, 'test', '-r', import.meta.filename]).status === 0;

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A path that does not exist yet. */
async function newPath(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'backlot-local-servers-'));
  cleanups.push(() => rm(parent, { recursive: true, force: true }));
  return join(parent, 'data');
}

async function start(dataDir: string, options: { throwaway?: boolean; port?: number } = {}) {
  const server = await startPostgres({ dataDir, ...options });
  cleanups.push(() => server.stop());
  return server;
}

async function query(url: string, sql: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Another process that starts a server and holds it until it is killed. */
async function startOwner(dataDir: string, prefix: string[] = [], throwaway = false) {
  const source = `
    import { startPostgres } from ${JSON.stringify(import.meta.resolve('./postgres.ts'))};
    const options = { dataDir: ${JSON.stringify(dataDir)}, throwaway: ${throwaway} };
    console.log((await startPostgres(options)).url);
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

describe('startPostgres on kept data', () => {
  let parent: string;
  /** Made by an owner that was killed; each test leaves it without a server. */
  let dataDir: string;
  let leftover: { url: string; pid: number | undefined };

  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'backlot-local-servers-'));
    dataDir = join(parent, 'data');
    const { owner, url } = await startOwner(dataDir);
    await query(url, "CREATE TABLE kept AS SELECT 'still here' AS word");
    await expect(start(dataDir)).rejects.toThrow('in use by another running process');
    leftover = { url, pid: await readServerPid(join(dataDir, 'cluster')) };
    await kill(owner);
  });

  afterAll(() => rm(parent, { recursive: true, force: true }));

  it('stops the server of an owner that was killed, and goes on with its data', async () => {
    expect(await query(leftover.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const server = await start(dataDir);
    expect(await readServerPid(join(dataDir, 'cluster'))).not.toBe(leftover.pid);
    expect(await query(server.url, 'SELECT word FROM kept')).toEqual([{ word: 'still here' }]);
  });

  it('keeps the data from one start to the next, durably', async () => {
    const first = await start(dataDir);
    const durable = "name IN ('fsync', 'full_page_writes', 'synchronous_commit')";
    expect(
      await query(first.url, `SELECT DISTINCT setting FROM pg_settings WHERE ${durable}`),
    ).toEqual([{ setting: 'on' }]);
    await query(first.url, "UPDATE kept SET word = 'changed'");
    await first.stop();
    await first.stop();
    const second = await start(dataDir);
    expect(await query(second.url, 'SELECT word FROM kept')).toEqual([{ word: 'changed' }]);
  });

  it('spares a stranger that got the id of a dead server', async () => {
    const stranger = spawn('sleep', ['60'], { stdio: 'ignore' });
    cleanups.push(() => kill(stranger));
    const lockFile = join(dataDir, 'cluster', 'postmaster.pid');
    await writeFile(lockFile, `${stranger.pid}\n${dataDir}/cluster\n1\n5432\n\n127.0.0.1\n`);
    const server = await start(dataDir);
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
  });

  it('keeps the password and the data from other users', async () => {
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
    expect((await stat(join(dataDir, 'password'))).mode & 0o777).toBe(0o600);
  });

  it('never throws kept data away', async () => {
    await expect(start(dataDir, { throwaway: true })).rejects.toThrow('holds kept data');
    expect(await removeThrowaway(dataDir)).toBe(false);
    await start(dataDir);
  });

  it('refuses data of another major version', async () => {
    await writeFile(join(dataDir, 'cluster', 'PG_VERSION'), '17\n');
    await expect(start(dataDir)).rejects.toThrow('PostgreSQL 17');
  });
});

describe('startPostgres on throwaway data', () => {
  it('listens on 127.0.0.1 alone, below the ephemeral ports, and asks for the password', async () => {
    const server = await start(await newPath(), { throwaway: true });
    expect(server.port).toBeLessThan(32_768);
    expect(await query(server.url, 'SHOW listen_addresses')).toEqual([
      { listen_addresses: '127.0.0.1' },
    ]);
    const wrong = new URL(server.url);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  });

  it('runs two servers at once, and removes their folders when they stop', async () => {
    const dataDirs = [await newPath(), await newPath()];
    const servers = await Promise.all(dataDirs.map((dir) => start(dir, { throwaway: true })));
    const folders = await Promise.all(servers.map(({ url }) => query(url, 'SHOW data_directory')));
    expect(folders).toEqual(dataDirs.map((dir) => [{ data_directory: join(dir, 'cluster') }]));
    await Promise.all(servers.map((server) => server.stop()));
    for (const dir of dataDirs) await expect(stat(dir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('refuses a given port that is taken', async () => {
    const stranger = createServer();
    cleanups.push(() => new Promise((resolve) => stranger.close(resolve)));
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    const { port } = stranger.address() as AddressInfo;
    const starting = start(await newPath(), { throwaway: true, port });
    await expect(starting).rejects.toThrow('Address already in use');
  });

  it('touches no folder that holds something else', async () => {
    const dataDir = await newPath();
    await mkdir(dataDir);
    await writeFile(join(dataDir, 'thesis.txt'), 'irreplaceable');
    await expect(start(dataDir, { throwaway: true })).rejects.toThrow('neither empty nor');
    expect(await removeThrowaway(dataDir)).toBe(false);
    expect(await readFile(join(dataDir, 'thesis.txt'), 'utf8')).toBe('irreplaceable');
  });

  if (canBeNobody) {
    it('runs for an ordinary user, whose folder root can use afterwards', async () => {
      const dataDir = await newPath();
      const parent = join(dataDir, '..', 'open');
      await mkdir(parent, { mode: 0o777 });
      await chmod(parent, 0o777);
      await chmod(join(dataDir, '..'), 0o755);
      const home = join(parent, 'data');
      const { owner, url } = await startOwner(home, ['setpriv', ...asNobody]);
      await query(url, 'CREATE TABLE kept ()');
      expect((await stat(home)).uid).toBe(65_534);
      await kill(owner);
      const server = await start(home);
      expect(await query(server.url, 'SELECT * FROM kept')).toEqual([]);
      expect((await stat(join(home, 'postgres.log'))).uid).toBe(65_534);
    });
  }

  if (isRoot) {
    it('runs as root below a folder that other users cannot enter', async () => {
      const dataDir = await newPath();
      expect((await stat(join(dataDir, '..'))).mode & 0o077).toBe(0);
      const server = await start(dataDir, { throwaway: true });
      expect((await stat(join(dataDir, 'cluster'))).uid).not.toBe(0);
      expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    });
  }
});

describe('removeThrowaway', () => {
  it('removes what a killed owner left, its server included, and nothing that is held', async () => {
    const dataDir = await newPath();
    const { owner, url } = await startOwner(dataDir, [], true);
    expect(await removeThrowaway(dataDir)).toBe(false);
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await kill(owner);
    expect(await removeThrowaway(dataDir)).toBe(true);
    await expect(stat(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(query(url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
