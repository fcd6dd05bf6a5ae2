import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createDatabase } from '@backlot/database';
import { identityHeader, identitySecret, signIdentity } from '@backlot/identity';
import {
  anonymous,
  createTestBroker,
  createTestDatabase,
  type TestBroker,
  type TestDatabase,
  until,
} from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const secret = 'x'.repeat(32);

describe('the process', () => {
  let database: TestDatabase;
  let broker: TestBroker;
  let folder: string;
  const children: ChildProcess[] = [];
  beforeAll(async () => {
    [database, broker] = await Promise.all([createTestDatabase(), createTestBroker()]);
    folder = await mkdtemp(join(tmpdir(), 'backlot-files-'));
  }, 60_000);
  afterAll(async () => {
    for (const each of children) each.kill('SIGKILL');
    await Promise.all([database.drop(), broker.drop(), rm(folder, { recursive: true })]);
  });

  const launch = async () => {
    const child = spawn(process.execPath, [fileURLToPath(new URL('./main.ts', import.meta.url))], {
      env: {
        PORT: '0',
        DATABASE_URL: database.url,
        AMQP_URL: broker.url,
        BACKLOT_IDENTITY_SECRET: secret,
        BACKLOT_SECRETS_KEYS: Buffer.alloc(32, 3).toString('base64'),
        BACKLOT_STORAGE_DIR: folder,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const url = await new Promise<string>((resolve, reject) => {
      child.once('exit', () => reject(new Error('it ended')));
      createInterface(child.stdout).on('line', (line) => {
        const { port, msg } = JSON.parse(line) as { port?: number; msg: string };
        if (msg === 'listening') resolve(`http://127.0.0.1:${port}`);
      });
    });
    return { child, url };
  };
  const blobs = async () =>
    (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) =>
      each.isFile(),
    );
  const identity = () => ({
    [identityHeader]: signIdentity(anonymous(), identitySecret(secret), Date.now()),
  });

  it('leaves no file, no row and, after the sweep, no bytes when it is killed in an upload', async () => {
    const pool = createDatabase({ url: database.url, schema: 'storage' });
    const count = async (table: string) =>
      (await pool.query<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))[0]?.n;
    const first = await launch();
    const req = request(`${first.url}/storage/upload`, {
      method: 'POST',
      headers: { ...identity(), 'content-type': 'multipart/form-data; boundary=b' },
    });
    req.on('error', () => {});
    req.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
    req.write(Buffer.alloc(4 * 1024 * 1024, 1));
    await until(async () => (await blobs()).length === 1);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    expect([await count('files'), await count('loose_blobs')]).toEqual([0, 1]);

    // Its lease ends by itself; nobody wants to wait for that.
    await pool.query("UPDATE loose_blobs SET leased_until = now() - interval '1 second'");
    const second = await launch();
    await until(async () => (await count('loose_blobs')) === 0, { timeoutMs: 10_000 });
    expect([await count('files'), await blobs()]).toEqual([0, []]);
    await pool.close();

    second.child.kill('SIGTERM');
    expect((await once(second.child, 'exit'))[0]).toBe(0);
  }, 60_000);

  it('has a row for every blob and a blob for every row, whenever it is killed', async () => {
    const pool = createDatabase({ url: database.url, schema: 'storage' });
    const upload = (url: string) => {
      const form = new FormData();
      form.append('file', new Blob([new Uint8Array(200_000)]), 'a.bin');
      const options = { method: 'POST', headers: identity(), body: form };
      return fetch(`${url}/storage/upload`, options).then(
        ({ status }) => status === 201,
        () => false,
      );
    };
    let told = 0;
    for (const lastHeard of [1, 9, 30]) {
      const { child, url } = await launch();
      let heard = 0;
      const uploads = Array.from({ length: 60 }, async () => {
        const isDone = await upload(url);
        if (isDone && ++heard === lastHeard) child.kill('SIGKILL');
        return isDone;
      });
      told += (await Promise.all(uploads)).filter(Boolean).length;
    }
    expect(told).toBeGreaterThanOrEqual(40);
    await pool.query("UPDATE loose_blobs SET leased_until = now() - interval '1 second'");
    const { child } = await launch();
    const left = 'SELECT blob_key FROM loose_blobs';
    await until(async () => (await pool.query(left)).length === 0, { timeoutMs: 10_000 });
    const rows = await pool.query<{ key: string }>('SELECT blob_key AS key FROM files');
    const names = (await blobs()).map(({ name }) => name);
    expect(names.sort()).toEqual(rows.map(({ key }) => key.replace(/.*\//, '')).sort());
    expect(rows.length).toBeGreaterThanOrEqual(told);
    expect(await pool.query('SELECT files FROM totals')).toEqual([{ files: rows.length }]);
    await pool.close();
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).toBe(0);
  }, 60_000);

  it('keeps files through its end and its next start', async () => {
    const first = await launch();
    const form = new FormData();
    form.append('file', new Blob(['kept']), 'a.txt');
    const answer = await fetch(`${first.url}/storage/upload`, {
      method: 'POST',
      headers: identity(),
      body: form,
    });
    const { url } = JSON.parse(await answer.text()) as { url: string };
    const path = new URL(url).pathname.replace(/^\/api\/runtime\/[^/]+/, '');
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    const second = await launch();
    const found = await fetch(second.url + path, { headers: identity() });
    expect([found.status, await found.text()]).toEqual([200, 'kept']);
    second.child.kill('SIGTERM');
    expect((await once(second.child, 'exit'))[0]).toBe(0);
  }, 60_000);
});
