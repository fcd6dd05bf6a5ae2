import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '@backlot/database';
import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLauncher, kill, type ServiceLauncher } from './testing/service-process.ts';
import { listFileNames } from './testing/test-bed.ts';

/** As libuv calls them. */
const fileThreads = (pid = 0) =>
  readdirSync(`/proc/${pid}/task`).filter((id) =>
    readFileSync(`/proc/${pid}/task/${id}/comm`, 'utf8').startsWith('libuv-worker'),
  );

describe('the process', () => {
  let launcher: ServiceLauncher;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'backlot-files-'));
    launcher = await createLauncher({ BACKLOT_STORAGE_DIR: folder });
  });
  afterAll(async () => {
    await launcher.close();
    await rm(folder, { recursive: true });
  });
  const launch = () => launcher.launch();
  const identity = (method = 'POST', path = '/storage/upload') => launcher.identity(method, path);

  const blobs = () => listFileNames(folder);

  it('leaves no file, no row and, after the sweep, no bytes when it is killed in an upload', async () => {
    const pool = createDatabase({ url: launcher.database.ownerUrl, schema: 'storage' });
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
    await kill(first);
    expect([await count('files'), await count('loose_blobs')]).toEqual([0, 1]);

    // Its lease ends by itself; nobody wants to wait for that.
    await pool.query("UPDATE loose_blobs SET leased_until = now() - interval '1 second'");
    const second = await launch();
    await until(async () => (await count('loose_blobs')) === 0);
    expect([await count('files'), await blobs()]).toEqual([0, []]);
    await pool.close();

    second.child.kill('SIGTERM');
    expect((await once(second.child, 'exit'))[0]).toBe(0);
  });

  it('has a row for every blob and a blob for every row, whenever it is killed', async () => {
    const pool = createDatabase({ url: launcher.database.ownerUrl, schema: 'storage' });
    const upload = (url: string) => {
      const form = new FormData();
      form.append('file', new Blob([new Uint8Array(200_000)]), 'a.bin');
      const options = { method: 'POST', headers: identity(), body: form };
      return fetch(`${url}/storage/upload`, options).then(
        ({ status }) => status === 201,
        () => false,
      );
    };
    let acknowledged = 0;
    for (const lastAnswered of [1, 9, 30]) {
      const { child, url } = await launch();
      let answered = 0;
      const uploads = Array.from({ length: 60 }, async () => {
        const isDone = await upload(url);
        if (isDone && ++answered === lastAnswered) child.kill('SIGKILL');
        return isDone;
      });
      acknowledged += (await Promise.all(uploads)).filter(Boolean).length;
    }
    expect(acknowledged).toBeGreaterThanOrEqual(40);
    await pool.query("UPDATE loose_blobs SET leased_until = now() - interval '1 second'");
    const { child } = await launch();
    const left = 'SELECT blob_key FROM loose_blobs';
    await until(async () => (await pool.query(left)).length === 0);
    const rows = await pool.query<{ key: string }>('SELECT blob_key AS key FROM files');
    expect((await blobs()).sort()).toEqual(rows.map(({ key }) => key.replace(/.*\//, '')).sort());
    expect(rows.length).toBeGreaterThanOrEqual(acknowledged);
    expect(await pool.query('SELECT files FROM totals')).toEqual([{ files: rows.length }]);
    await pool.close();
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).toBe(0);
  });

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
    await kill(first);
    const second = await launch();
    const found = await fetch(second.url + path, { headers: identity('GET', path) });
    expect([found.status, await found.text()]).toEqual([200, 'kept']);
    if (process.platform === 'linux') expect(fileThreads(second.child.pid)).toHaveLength(16);
    second.child.kill('SIGTERM');
    expect((await once(second.child, 'exit'))[0]).toBe(0);
  });
});
