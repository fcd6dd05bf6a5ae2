import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { migrations } from '@backlot/all-in-one';
import { migrationStatus } from '@backlot/database';
import { createTestDatabase, findFreePort, type TestDatabase, until } from '@backlot/testing';
import { apiAt } from '@backlot/testing/platform-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const migrateMain = fileURLToPath(import.meta.resolve('@backlot/all-in-one/migrate-main'));
const run = promisify(execFile);

const git = async (...args: string[]): Promise<string> =>
  (await run('git', ['-C', root, ...args])).stdout.trim();

/**
 * The newest release, or without any the last commit that did not have the newest migration: the services that run
 * while it is applied.
 * @throws Error where the clone does not have it
 */
const findReleaseBefore = async (): Promise<string> => {
  const named = process.env.BACKLOT_RELEASE_BEFORE;
  if (named) return git('rev-parse', '--verify', `${named}^{commit}`);
  const isShallow = (await git('rev-parse', '--is-shallow-repository')) === 'true';
  if (isShallow)
    throw new Error(
      'This clone is shallow and does not have the release before: git fetch --unshallow --tags, or name it with BACKLOT_RELEASE_BEFORE.',
    );
  const tag = await git('describe', '--tags', '--abbrev=0', 'HEAD^').catch(() => '');
  if (tag) return git('rev-parse', `${tag}^{commit}`);
  const files = 'services/*/migrations/*.sql';
  const newest = await git('log', '-1', '--diff-filter=A', '--format=%H', '--', files);
  return git('rev-parse', '--verify', `${newest}^`);
};

describe('the services of the release before', () => {
  let database: TestDatabase;
  let tree: string;
  let dataDir: string;
  let commit: string;
  let child: ChildProcess | undefined;
  let tours = 0;

  beforeAll(async () => {
    commit = await findReleaseBefore();
    database = await createTestDatabase();
    dataDir = await mkdtemp(join(tmpdir(), 'backlot-before-'));
    tree = join(dataDir, 'tree');
    await git('worktree', 'add', '--detach', tree, commit);
    const args = ['-y', 'pnpm@12', 'install', '--frozen-lockfile', '--prefer-offline'];
    await run('npx', args, { cwd: tree, maxBuffer: 10_000_000 });
  }, 600_000);
  afterAll(async () => {
    child?.kill('SIGKILL');
    await git('worktree', 'remove', '--force', tree).catch(() => {});
    await database?.drop();
    await rm(dataDir, { recursive: true });
  });

  const start = async (): Promise<string> => {
    const port = await findFreePort(29_000 + Math.floor(Math.random() * 2_000));
    const started = spawn(process.execPath, ['tools/all-in-one/src/main.ts'], {
      cwd: tree,
      env: {
        PATH: process.env.PATH,
        PORT: String(port),
        BACKLOT_DATA_DIR: join(dataDir, 'data'),
        DATABASE_URL: database.url,
        BACKLOT_ARGON2_MEMORY_KIB: '1024',
      },
      stdio: 'ignore',
    });
    child = started;
    const url = `http://localhost:${port}`;
    await until(
      async () => {
        if (started.exitCode !== null) throw new Error(`It ended with ${started.exitCode}.`);
        return (await fetch(`${url}/readyz`)).ok;
      },
      { timeoutMs: 120_000, what: `the start of ${commit}` },
    );
    return url;
  };
  const stop = async () => {
    if (!child) return;
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
    child = undefined;
  };
  const pending = async () => {
    const all = await Promise.all(
      migrations.map(({ schema, directory }) =>
        migrationStatus({ url: database.url, schema, directory }),
      ),
    );
    return all.flatMap(({ schema, pending }) => pending.map((name) => `${schema}/${name}`));
  };

  /** A call of each kind, of each service that keeps something. */
  const tour = async (url: string) => {
    tours += 1;
    const password = 'a good long password';
    const call = async (path: string, method: string, token?: string, body?: unknown) => {
      const answer = await apiAt(`${url}/api`)(method, path, { token, body });
      expect([method, path, answer.status, answer.body.error]).toEqual([
        method,
        path,
        answer.status < 300 ? answer.status : 'done',
        undefined,
      ]);
      return answer.body;
    };
    const email = `owner${tours}@example.org`;
    const owner = await call('/runtime/platform/auth/signup', 'POST', undefined, {
      email,
      password,
    });
    const project = await call('/platform/projects', 'POST', owner.token, { name: 'Tour' });
    const control = `/platform/projects/${project.id}`;
    const app = `/runtime/${project.id}`;
    const user = await call(`${app}/auth/signup`, 'POST', undefined, {
      email: 'user@example.org',
      password,
    });
    await call(`${app}/auth/me`, 'GET', user.token);
    await call(`${app}/auth/signin`, 'POST', undefined, { email: 'user@example.org', password });
    const note = await call(`${app}/db/notes`, 'POST', user.token, { data: { text: 'a', n: 1 } });
    await call(`${app}/db/notes/${note.id}`, 'PATCH', user.token, { data: { n: 2 } });
    await call(`${app}/db/notes?sort=-createdAt&total=1`, 'GET', user.token);
    await call(`${app}/db/notes/_batch`, 'POST', user.token, { create: [{ data: { n: 3 } }] });
    await call(`${app}/db/notes/${note.id}`, 'DELETE', user.token);
    await call(`${control}/undo`, 'POST', owner.token, { since: new Date().toISOString() });
    const form = new FormData();
    form.set('file', new Blob(['some text']), 'note.txt');
    const uploaded = await fetch(`${url}/api${app}/storage/upload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${user.token}` },
      body: form,
    });
    expect(uploaded.status).toBe(201);
    const file = (await uploaded.json()) as { id: string };
    await call(`${app}/storage/files/${file.id}`, 'DELETE', user.token);
    await call(`${control}/keys`, 'POST', owner.token, { name: 'tour', scopes: ['read'] });
    await call(`${control}/config`, 'GET', owner.token);
    await call(`${control}/users`, 'GET', owner.token);
    await call(`${control}/payments`, 'GET', owner.token);
    await call(`${control}/emails`, 'GET', owner.token);
    await call('/platform/credits', 'GET', owner.token);
    await call(`${control}/copy`, 'POST', owner.token, { name: 'Copy', records: true });
  };

  it('run while the migrations of this one are applied, and start on its schema', async () => {
    const url = await start();
    await tour(url);
    const missing = await pending();
    expect(missing).not.toEqual([]);
    const env = { PATH: process.env.PATH, DATABASE_URL: database.url };
    await run(process.execPath, [migrateMain, '--wait', '60'], { env });
    expect(await pending()).toEqual([]);
    await tour(url);
    await stop();
    await tour(await start());
    await stop();
  }, 600_000);
});
