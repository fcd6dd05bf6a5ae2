import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

const main = fileURLToPath(new URL('../../../packages/cli/src/main.ts', import.meta.url));
const email = 'owner-of-the-terminal@example.org';

describe('the command backlot', () => {
  let platform: PlatformUnderTest;
  let folder: string;
  beforeAll(async () => {
    platform = await platformUnderTest('in-process');
    folder = await mkdtemp(join(tmpdir(), 'backlot-cli-'));
  });
  afterAll(async () => {
    await platform.stop();
    await rm(folder, { recursive: true });
  });

  const backlot = async (args: string[], env: Record<string, string> = {}) => {
    const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], {
      env: {
        PATH: process.env.PATH ?? '',
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        XDG_CONFIG_HOME: folder,
        ...env,
      },
    });
    return stdout;
  };
  const json = async (...args: string[]) => JSON.parse(await backlot(['--json', ...args]));
  const refusal = async (args: string[], env: Record<string, string> = {}) => {
    const failed = await backlot(args, env).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 1 });
    return (failed as { stderr: string }).stderr;
  };

  it('signs in, makes a project, keys and types, sets access, shows users', async () => {
    const password = 'a good long password';
    const login = ['login', '--host', platform.url, '--email', email];
    await backlot([...login, '--sign-up'], { BACKLOT_PASSWORD: password });
    await backlot(login, { BACKLOT_PASSWORD: password });
    const kept = join(folder, 'backlot/session.json');
    expect((await stat(kept)).mode & 0o777).toBe(0o600);

    const [project] = await json('projects', 'create', 'Terminal');
    expect(await json('projects')).toEqual([project]);
    expect(await backlot(['projects'])).toMatch(/^id +name +status +baseUrl\n.* Terminal +active/);

    const { runtime, signUp } = platform;
    await runtime(project.id)('POST', '/db/todos', { body: { data: { title: 'Buy milk' } } });
    const user = await signUp(project.id);
    const create = ['keys', 'create', project.id, 'agent', '--scope', 'read', 'admin'];
    const [{ key, scopes, expiresAt }] = await json(...create, '--days', '2');
    expect([scopes, Date.parse(expiresAt) > Date.now()]).toEqual([['read', 'admin'], true]);

    const byKey = { BACKLOT_KEY: key, BACKLOT_HOST: platform.url, XDG_CONFIG_HOME: '/nowhere' };
    const out = join(folder, 'project.ts');
    await backlot(['types', project.id, '--out', out], byKey);
    expect(await readFile(out, 'utf8')).toContain('title: string;');
    await backlot(['access', project.id, 'todos', 'private'], byKey);
    expect(await json('access', project.id)).toMatchObject([{ name: 'todos', access: 'private' }]);
    const access = { read: ['users'], create: ['users'], change: ['owner'] };
    await backlot(['access', project.id, 'todos', JSON.stringify(access)], byKey);
    expect(await json('access', project.id, 'todos')).toMatchObject([{ access }]);
    expect(await refusal(['access', project.id, 'todos', '{read: anyone}'], byKey)).toContain(
      '\'{"read":["anyone"]',
    );
    expect(await refusal(['access', project.id, 'todos', '{"raed":["users"]}'], byKey)).toContain(
      'raed',
    );
    expect(await backlot(['users', project.id], byKey)).toContain(user.email);
    expect(await refusal(['keys', project.id], byKey)).toContain('No secret key opens this call');

    for (const done of [true, true, false])
      await runtime(project.id)('POST', '/db/tasks', { body: { data: { done } } });
    await backlot(['collections', 'rename', project.id, 'tasks', 'jobs'], byKey);
    const remove = ['records', 'delete', project.id, 'jobs', '{"done":true}'];
    expect(await json(...remove, '--dry-run')).toMatchObject([{ count: 2, dryRun: true }]);
    expect(await json('collections', project.id)).toMatchObject([
      { name: 'jobs', count: 3 },
      { name: 'todos', count: 1 },
    ]);
    expect(await json(...remove)).toMatchObject([{ count: 2 }]);
    expect(await refusal([...remove.slice(0, 4), 'done=true'])).toContain('where');
    expect(await refusal([...remove.slice(0, 4), '{}'])).toContain('condition');
    const ended = ['collections', 'delete', project.id];
    expect(await json(...ended, 'todos', '--empty')).toMatchObject([{ count: 1 }]);
    expect(await json(...ended, 'jobs')).toMatchObject([{ count: 1 }]);
    expect(await json('collections', project.id)).toMatchObject([{ name: 'todos', count: 0 }]);

    const [{ id }] = await json('keys', project.id);
    await backlot(['keys', 'delete', project.id, id]);
    expect(await json('keys', project.id)).toEqual([]);
    await backlot(['users', 'delete', project.id, user.id]);
    expect(await json('users', project.id)).toEqual([]);
  });

  it('sends the token to no other host, and says what is wrong', async () => {
    const elsewhere = ['--host', 'http://localhost:1', 'projects'];
    expect(await refusal(elsewhere)).toContain('You are not signed in at http://localhost:1.');
    expect(await refusal([...elsewhere, '--key', 'bk_x'])).toContain('can not be reached');
    expect(await refusal(['--host', 'nonsense', 'projects'])).toContain('is no address');
    expect(await refusal(['users', 'no-such-project'])).toContain('There is no such project.');
    expect(await refusal(['keys', 'create', 'demo', 'k', '--scope', 'owner'])).toContain('read');
  });
});
