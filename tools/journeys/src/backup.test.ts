import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { loadSecrets, migrations, readConfig, startPlatform } from '@backlot/all-in-one';
import { migrate } from '@backlot/database';
import {
  createFilledDatabase,
  createTestDatabase,
  createTestS3,
  type TestDatabase,
  until,
} from '@backlot/testing';
import { type Api, apiAt } from '@backlot/testing/platform-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';

const main = fileURLToPath(new URL('../../ops/src/main.ts', import.meta.url));
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

interface Site {
  database: TestDatabase;
  dataDir: string;
}

const startOn = ({ database, dataDir }: Site) =>
  startPlatform(
    readConfig({
      PORT: '0',
      BACKLOT_DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      BACKLOT_LOG_LEVEL: 'error',
      BACKLOT_ARGON2_MEMORY_KIB: '1024',
      BACKLOT_DEFAULT_LIMITS: JSON.stringify({
        read: { perCaller: 100_000, perProject: 100_000 },
        write: { perCaller: 100_000, perProject: 100_000 },
        upload: { perCaller: 100_000, perProject: 100_000 },
      }),
    }),
  );

const removeSite = async ({ database, dataDir }: Site) => {
  await database.drop();
  await rm(dataDir, { recursive: true });
};

const signIn = async (url: string, owner: { email: string; password: string }) => {
  const { body } = await apiAt(`${url}/api/runtime/platform`)('POST', '/auth/signin', {
    body: owner,
  });
  return body.token as string;
};

const query = async <T extends object>(url: string, text: string): Promise<T[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end();
  }
};

/** Writes until it is told to stop, and keeps what was acknowledged. */
const startLoad = (base: string, token: string) => {
  const api: Api = apiAt(base);
  const records = new Map<string, string>();
  const files = new Map<string, string>();
  const deleted = new Set<string>();
  const failures: unknown[] = [];
  let isOver = false;

  const createRecord = async () => {
    const text = randomBytes(20).toString('hex');
    const { status, body } = await api('POST', '/db/notes', { token, body: { data: { text } } });
    if (status !== 201) failures.push(body);
    else records.set(body.id, text);
  };
  const uploadFile = async () => {
    const bytes = randomBytes(5000);
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(bytes)]), 'some.bin');
    const response = await fetch(`${base}/storage/upload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: form,
    });
    const body = (await response.json()) as { id: string };
    if (response.status !== 201) failures.push(body);
    else files.set(body.id, sha256(bytes));
  };
  const deleteFile = async () => {
    const id = [...files.keys()].find((other) => !deleted.has(other));
    if (id === undefined || files.size - deleted.size < 20) return pause(10);
    deleted.add(id);
    const { status, body } = await api('DELETE', `/storage/files/${id}`, { token });
    if (status !== 200) failures.push(body);
  };
  const repeat = async (work: () => Promise<void>) => {
    while (!isOver && failures.length === 0) await work();
  };
  const workers = [createRecord, createRecord, uploadFile, uploadFile, deleteFile].map(repeat);
  return {
    records,
    files,
    deleted,
    failures,
    stop: async () => {
      isOver = true;
      await Promise.all(workers);
    },
    kill: () => {
      isOver = true;
    },
  };
};

describe('a back-up of an installation', () => {
  let live: Site;
  let elsewhere: Site;
  let platform: Awaited<ReturnType<typeof startPlatform>>;
  let folder: string;
  let backup: string;
  const running = new Set<{ kill(signal: 'SIGKILL'): unknown }>();

  const newSite = async (): Promise<Site> => {
    const dataDir = await mkdtemp(join(tmpdir(), 'backlot-restored-'));
    await cp(join(live.dataDir, 'secrets.json'), join(dataDir, 'secrets.json'));
    return { database: await createTestDatabase(), dataDir };
  };
  const envFor = async ({ database, dataDir }: Site) => {
    const { masterKey, secretsKey } = await loadSecrets(live.dataDir);
    return {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      DATABASE_URL: database.url,
      BACKLOT_STORAGE_DIR: join(dataDir, 'files'),
      BACKLOT_AUTH_MASTER_KEY: masterKey,
      BACKLOT_SECRETS_KEYS: secretsKey,
    };
  };
  const ops = async (site: Site, args: string[], env: NodeJS.ProcessEnv = {}) => {
    const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], {
      env: { ...(await envFor(site)), ...env },
    });
    return JSON.parse(stdout);
  };
  const refusal = async (site: Site, args: string[], env: Record<string, string> = {}) => {
    const failed = await ops(site, args, env).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    return (failed as { stderr: string }).stderr;
  };
  /** Kills the command once `isSeen`; false where it has ended before. */
  const killWhen = async (site: Site, args: string[], isSeen: () => Promise<boolean>) => {
    const child = spawn(process.execPath, [main, ...args], {
      env: await envFor(site),
      stdio: 'ignore',
    });
    running.add(child);
    const exit = once(child, 'exit');
    await until(async () => child.exitCode !== null || (await isSeen()));
    child.kill('SIGKILL');
    const [code] = await exit;
    return code === null;
  };

  beforeAll(async () => {
    const migrateAll = async (url: string) => {
      for (const { schema, directory } of migrations) await migrate({ url, schema, directory });
    };
    live = {
      database: await createFilledDatabase('platform', migrateAll),
      dataDir: await mkdtemp(join(tmpdir(), 'backlot-backup-')),
    };
    platform = await startOn(live);
    folder = await mkdtemp(join(tmpdir(), 'backlot-backups-'));
    backup = join(folder, 'whole');
    elsewhere = await newSite();
  });
  afterAll(async () => {
    for (const child of running) child.kill('SIGKILL');
    await platform?.stop();
    await removeSite(live);
    await removeSite(elsewhere);
    await rm(folder, { recursive: true });
  });

  it('has all that was acknowledged before it began, files by their hashes, while everybody writes on', async () => {
    const { url, projectId, owner } = platform;
    const base = `${url}/api/runtime/${projectId}`;
    const load = startLoad(base, await signIn(url, owner));
    running.add(load);
    await until(async () => {
      expect(load.failures).toEqual([]);
      return load.records.size > 40 && load.files.size > 40;
    });
    const before = { records: new Map(load.records), files: new Map(load.files) };
    const made = await ops(live, ['backup', '--to', backup]);
    const during = { records: load.records.size, deleted: load.deleted.size };
    await load.stop();
    expect(load.failures).toEqual([]);
    expect(during.records).toBeGreaterThan(before.records.size);
    expect(made.files).toMatchObject({ lost: [] });

    const restored = await ops(elsewhere, ['restore', '--from', backup]);
    expect(restored).toMatchObject({ restored: true, beganAt: made.beganAt });
    const second = await startOn(elsewhere);
    try {
      const token = await signIn(second.url, owner);
      const api = apiAt(`${second.url}/api/runtime/${projectId}`);
      const found = new Map<string, string>();
      for (let cursor: string | null = ''; cursor !== null; ) {
        const path: string = `/db/notes?limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
        const { body } = await api('GET', path, { token });
        for (const { id, text } of body.items) found.set(id, text);
        cursor = body.nextCursor;
      }
      for (const [id, text] of before.records) expect([id, found.get(id)]).toEqual([id, text]);

      const kept = await query<{ id: string }>(
        elsewhere.database.url,
        'SELECT id FROM storage.files',
      );
      const hashes = new Map<string, string>();
      for (const { id } of kept) {
        const response = await fetch(
          `${second.url}/api/runtime/${projectId}/storage/files/${id}/some.bin`,
          {
            headers: { authorization: `Bearer ${token}` },
          },
        );
        expect(response.status).toBe(200);
        hashes.set(id, sha256(await response.bytes()));
      }
      for (const [id, hash] of before.files)
        if (!load.deleted.has(id)) expect([id, hashes.get(id)]).toEqual([id, hash]);
      const sums = `SELECT count(*)::int AS files, sum(size_bytes)::int8 AS bytes FROM storage.files`;
      const totals = `SELECT sum(files)::int AS files, sum(bytes)::int8 AS bytes FROM storage.totals`;
      expect(await query(elsewhere.database.url, totals)).toEqual(
        await query(elsewhere.database.url, sums),
      );
      const written = await api('POST', '/db/notes', { token, body: { data: { text: 'new' } } });
      expect(written.status).toBe(201);

      expect(await refusal(elsewhere, ['restore', '--from', backup])).toMatch(
        /Processes are connected to the database: backlot-/,
      );
    } finally {
      await second.stop();
    }
    expect(await refusal(elsewhere, ['restore', '--from', backup])).toMatch(
      /\w+\.\w+ has rows: a back-up is restored into an empty installation only/,
    );
  });

  it('is listed where operators look, once it can be told, and as verified once all its parts were read', async () => {
    const known = async () =>
      (await apiAt(`${platform.url}/api/platform`)('GET', '/backups', asOperator)).body.items;
    const asOperator = { token: platform.operatorToken };
    const reached = { BACKLOT_HOST: platform.url, BACKLOT_OPERATOR_TOKEN: platform.operatorToken };
    const told = join(folder, 'told');
    // Whoever can not be reached does not keep it from being made.
    const away = { ...reached, BACKLOT_HOST: 'http://127.0.0.1:9' };
    expect(await ops(live, ['backup', '--to', told], away)).toMatchObject({ isTold: false });
    expect(await known()).toEqual([]);
    const second = join(folder, 'second');
    const made = await ops(live, ['backup', '--to', second], reached);
    expect(made).toMatchObject({ isTold: true });
    const [listed] = await known();
    expect(listed).toMatchObject({
      beganAt: made.beganAt,
      rows: made.rows,
      files: made.files.count,
      lostFiles: 0,
      place: expect.stringContaining(second),
      notedBy: 'bootstrap',
      verifiedAt: null,
    });
    expect(listed.sizeBytes).toBeGreaterThan(made.files.sizeBytes);
    await ops(live, ['restore', '--dry-run', '--from', second], reached);
    await ops(live, ['restore', '--dry-run', '--from', told], reached);
    expect(await known()).toMatchObject([
      { id: listed.id, verifiedBy: 'bootstrap' },
      { verifiedBy: 'bootstrap' },
    ]);
    const acts = await until(async () => {
      const { body } = await apiAt(`${platform.url}/api/platform`)(
        'GET',
        '/audit?action=noteBackup',
        asOperator,
      );
      return body.items.length === 3 && body.items;
    });
    expect(acts.map(({ target }: { target: string }) => target)).toContain(`backups/${listed.id}`);
  });

  it('goes into a folder of its own', async () => {
    expect(await refusal(live, ['backup', '--to', backup])).toContain('is not empty (manifest.sha');
    const other = join(folder, 'other');
    await mkdir(other);
    await writeFile(join(other, 'letter.txt'), 'mine');
    expect(await refusal(live, ['backup', '--to', other])).toContain('is not empty (letter.txt)');
  });

  it('is refused by the name of the part that is damaged or missing, before anything is written', async () => {
    const site = await newSite();
    const damaged = join(folder, 'damaged');
    const files = await readdir(join(backup, 'files'), { recursive: true, withFileTypes: true });
    const file = files.find((entry) => entry.isFile());
    const blob = join(file?.parentPath ?? '', file?.name ?? '').slice(backup.length + 1);
    for (const part of [
      'database/records.records.copy.zst',
      blob,
      'files.ndjson',
      'manifest.json',
    ]) {
      await cp(backup, damaged, { recursive: true });
      const path = join(damaged, part);
      const bytes = await readFile(path);
      bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
      await writeFile(path, bytes);
      const text = await refusal(site, ['restore', '--from', damaged]);
      expect(text).toContain(`The part ${path} is damaged`);
      await rm(path);
      const missing = await refusal(site, ['restore', '--from', damaged]);
      expect(missing).toMatch(/missing|damaged/);
      await rm(damaged, { recursive: true });
    }
    expect(
      await query(site.database.url, `SELECT to_regclass('records.records') AS found`),
    ).toEqual([{ found: null }]);
    await removeSite(site);
  });

  it('is refused where the keys are others, by the names of those that it needs', async () => {
    const site = await newSite();
    const wrong = { BACKLOT_SECRETS_KEYS: randomBytes(32).toString('base64') };
    const text = await refusal(site, ['restore', '--from', backup], wrong);
    expect(text).toMatch(
      /The settings lack keys of the back-up: BACKLOT_SECRETS_KEYS [0-9a-f]{16}\./,
    );
    const manifest = await readFile(join(backup, 'manifest.json'), 'utf8');
    const { masterKey, secretsKey } = await loadSecrets(live.dataDir);
    for (const secret of [masterKey, secretsKey]) expect(manifest).not.toContain(secret);
    await removeSite(site);
  });

  it('that was killed is none, and is continued', async () => {
    const killed = join(folder, 'killed');
    const hasBegun = async () =>
      (await readdir(join(killed, 'database')).catch(() => [])).length > 3;
    expect(await killWhen(live, ['backup', '--to', killed], hasBegun)).toBe(true);
    expect(await refusal(live, ['restore', '--dry-run', '--from', killed])).toContain(
      'holds no whole back-up',
    );
    await ops(live, ['backup', '--to', killed]);
    expect(await ops(live, ['restore', '--dry-run', '--from', killed])).toMatchObject({
      isWhole: true,
    });
  });

  it('whose restore was killed leaves an installation without rows, and may be restored again', async () => {
    const site = await newSite();
    const { url } = site.database;
    const hasTables = async () =>
      (
        await query<{ found: string | null }>(url, `SELECT to_regclass('records.records') AS found`)
      )[0]?.found !== null;
    expect(await killWhen(site, ['restore', '--from', backup], hasTables)).toBe(true);
    await until(
      async () =>
        (
          await query(
            url,
            `SELECT FROM pg_stat_activity WHERE application_name = 'backlot-ops' AND datname = current_database()`,
          )
        ).length === 0,
    );
    const [{ rows } = { rows: -1 }] = await query<{ rows: number }>(
      url,
      'SELECT count(*)::int AS rows FROM records.records',
    );
    expect(rows).toBe(0);
    expect(await refusal(site, ['restore', '--from', backup])).toContain('already');
    await ops(site, ['restore', '--continue', '--from', backup]);
    const [restored] = await query<{ rows: number }>(
      url,
      'SELECT count(*)::int AS rows FROM records.records',
    );
    expect(restored?.rows).toBeGreaterThan(40);
    await removeSite(site);
  });

  it('goes from a folder into a bucket, and from there into a back-up with the same files', async () => {
    const { endpoint, bucket, accessKeyId, secretAccessKey } = await createTestS3();
    const client = new S3Client({
      endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: { accessKeyId, secretAccessKey },
    });
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    client.destroy();
    const site = await newSite();
    const inBucket = {
      BACKLOT_STORAGE_DIR: undefined,
      BACKLOT_S3_BUCKET: bucket,
      BACKLOT_S3_ENDPOINT: endpoint,
      BACKLOT_S3_PATH_STYLE: 'true',
      BACKLOT_S3_CHECKSUMS: 'WHEN_REQUIRED',
      BACKLOT_S3_ACCESS_KEY_ID: accessKeyId,
      BACKLOT_S3_SECRET_ACCESS_KEY: secretAccessKey,
    };
    await ops(site, ['restore', '--from', backup], inBucket);
    const fromBucket = join(folder, 'from-bucket');
    const { files } = await ops(site, ['backup', '--to', fromBucket], inBucket);
    expect(files).toMatchObject({ deleted: [], lost: [] });
    const list = (of: string) => readFile(join(of, 'files.ndjson'), 'utf8');
    expect((await list(fromBucket)).length).toBeGreaterThan(1000);
    expect(await list(fromBucket)).toBe(await list(backup));
    await removeSite(site);
  });
});
