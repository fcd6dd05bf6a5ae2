import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
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

  it('signs in with a second factor, by a code of the app or one for recovery', async () => {
    const password = 'a good long password';
    const owner = await platform.signUp('platform');
    const auth = platform.runtime('platform');
    const { body } = await auth('POST', '/auth/factors/totp', { token: owner.token });
    const totp = new TOTP({ secret: Secret.fromBase32(body.secret) });
    const confirmed = await auth('POST', '/auth/factors/totp/confirm', {
      token: owner.token,
      body: { code: totp.generate() },
    });
    const login = ['login', '--host', platform.url, '--email', owner.email];
    const env = { BACKLOT_PASSWORD: password };
    expect(await refusal([...login, '--code', '000000'], env)).toContain('The code is wrong');
    const [code] = confirmed.body.recoveryCodes;
    expect(await backlot([...login, '--code', code], env)).toContain('Signed in');
    expect(await json('projects')).toEqual([]);
  });

  it('solves what a network address is asked for from which many sign-ins have failed', async () => {
    const owner = await platform.signUp('platform');
    const auth = platform.runtime('platform');
    const fail = async (n: number) => {
      const body = { email: `nobody${n}@example.org`, password: 'a good long password' };
      return (await auth('POST', '/auth/signin', { body })).status;
    };
    let tries = 0;
    while ((await fail(tries)) === 401 && tries < 30) tries++;
    expect(await fail(30)).toBe(428);
    const login = ['login', '--host', platform.url, '--email', owner.email];
    const signedIn = await backlot(login, { BACKLOT_PASSWORD: 'a good long password' });
    expect(signedIn).toContain('Signed in');
    expect(await refusal(login, { BACKLOT_PASSWORD: 'not the password' })).toMatch(/password/);
  });

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
    const proposed = await json('schema', project.id, 'todos', '--propose');
    expect(proposed.properties.title).toEqual({ type: 'string', maxLength: 100 });
    await backlot(['schema', project.id, 'todos', '--set', JSON.stringify(proposed)], byKey);
    expect(await json('schema', project.id, 'todos')).toEqual(proposed);
    expect(await backlot(['types', project.id], byKey)).toContain('title: string;');
    expect(await json('schema', project.id, 'todos', '--report')).toMatchObject([{ unfit: 0 }]);
    expect(await refusal(['schema', project.id, 'todos', '--set', '{"oneOf":[]}'])).toContain(
      'oneOf',
    );
    expect(await json('schema', project.id, 'todos', '--set', 'null')).toBeNull();
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
    expect(await json('restore-points', project.id, '--create', 'before')).toMatchObject([
      { name: 'before' },
    ]);
    expect(await json(...remove)).toMatchObject([{ count: 2 }]);
    const undo = ['undo', project.id, '--restore-point', 'before', '--collections', 'jobs'];
    expect(await json(...undo, '--dry-run')).toMatchObject([{ created: 2, dryRun: true }]);
    expect(await json(...undo)).toMatchObject([{ state: 'done', created: 2, conflicts: [] }]);
    expect(await json(...remove)).toMatchObject([{ count: 2 }]);
    expect(await refusal([...remove.slice(0, 4), 'done=true'])).toContain('where');
    expect(await refusal([...remove.slice(0, 4), '{}'])).toContain('condition');
    const ended = ['collections', 'delete', project.id];
    expect(await json(...ended, 'todos', '--empty')).toMatchObject([{ count: 1 }]);
    expect(await json(...ended, 'jobs')).toMatchObject([{ count: 1 }]);
    expect(await json('collections', project.id)).toMatchObject([{ name: 'todos', count: 0 }]);
    expect(await json('collections', 'deleted', project.id)).toMatchObject([
      { name: 'jobs', how: 'deleted', records: 1 },
      { name: 'todos', how: 'emptied', records: 1 },
    ]);
    const restored = await json('collections', 'restore', project.id, 'jobs', '--as', 'tasks');
    expect(restored).toMatchObject([{ name: 'tasks', count: 1 }]);
    const erase = ['collections', 'erase', project.id, 'todos'];
    expect(await json(...erase)).toMatchObject([{ count: 1 }]);
    expect(await refusal(erase)).toContain('can come back');

    const [{ id }] = await json('keys', project.id);
    await backlot(['keys', 'delete', project.id, id]);
    expect(await json('keys', project.id)).toEqual([]);
    await backlot(['users', 'block', project.id, user.id, '--reason', 'Spam']);
    expect(await json('users', project.id)).toMatchObject([{ blocked: { reason: 'Spam' } }]);
    await backlot(['users', 'unblock', project.id, user.id]);
    expect(await json('users', project.id)).not.toMatchObject([{ blocked: {} }]);
    const lines = (await backlot(['users', 'export', project.id, user.id])).trim().split('\n');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ kind: 'account', user: { id: user.id } });
    await backlot(['users', 'delete', project.id, user.id]);
    expect(await json('users', project.id)).toEqual([]);
  });

  it('takes records home as lines, and makes records of them', async () => {
    const { newProject } = platform;
    const { id, owner } = await newProject();
    const env = {
      BACKLOT_KEY: owner.token,
      BACKLOT_HOST: platform.url,
      XDG_CONFIG_HOME: '/nowhere',
    };
    const records = (...args: string[]) => backlot(['--json', 'records', ...args], env);
    const file = (name: string) => join(folder, name);
    const large = 'x'.repeat(100_000);
    const rows = Array.from({ length: 100 }, (_, n) => `0${n},${n},"a ""b"",\r\n${large}"\r\n`);
    await writeFile(file('rows.csv'), `zip,n,text\r\n${rows.join('')}`);
    const types = { zip: 'text', n: 'number', text: 'text' };
    const [made] = JSON.parse(await records('import', id, 'rows', file('rows.csv')));
    expect(made).toMatchObject({ created: 100, skipped: 0, failed: 0, types });
    const again = ['import', id, 'rows', file('rows.csv'), '--import', made.import];
    expect(JSON.parse(await records(...again, '--from', '150'))).toMatchObject([
      { created: 0, skipped: 26 },
    ]);
    await records('export', id, 'rows', '--out', file('rows.ndjson'));
    const lines = (await readFile(file('rows.ndjson'), 'utf8')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).n)).toEqual(rows.map((_, n) => n));
    expect(JSON.parse(lines[7] ?? '')).toMatchObject({ zip: '07', text: `a "b",\r\n${large}` });
    const csv = ['export', id, 'rows', '--format', 'csv', '--where', '{"n":{"$lt":2}}'];
    expect(await records(...csv, '--fields', 'zip,n')).toMatch(
      /^"id","zip","n"\r\n.*,"00",0\r\n.*,"01",1\r\n$/,
    );
    await writeFile(file('wrong.ndjson'), '{"n":1}\nnothing\n');
    expect(await refusal(['records', 'import', id, 'wrong', file('wrong.ndjson')], env)).toContain(
      'line 2: ',
    );
  });

  it('takes a project home as one file, plans and applies it', async () => {
    const { control, newProject } = platform;
    const [shop, twin] = [await newProject(), await newProject()];
    const keyOf = async ({ id, owner }: typeof shop, scopes: string[]) => {
      const body = { name: 'config', scopes };
      return (await control('POST', `/projects/${id}/keys`, { token: owner.token, body })).body.key;
    };
    const as = async (key: string, ...args: string[]) =>
      backlot(args, { BACKLOT_KEY: key, BACKLOT_HOST: platform.url, XDG_CONFIG_HOME: '/nowhere' });
    const owner = (of: typeof shop, ...args: string[]) => as(of.owner.token, ...args);

    const wanted = {
      settings: {
        allowedOrigins: ['https://app.example.org'],
        createCollections: false,
        payments: 'products-only',
        callers: { ai: ['users'] },
      },
      limits: { write: { perCaller: 60 } },
      collections: {
        orders: {
          access: {
            read: ['owner'],
            create: ['users'],
            change: [],
            fields: { paid: { change: [] } },
          },
          schema: { type: 'object', properties: { number: { type: 'integer' } } },
          onErase: 'keep',
          unique: ['number'],
          indexes: ['status'],
        },
        posts: { access: 'public-read', search: ['title'] },
      },
      roles: { staff: { may: ['block-users'] } },
      prompts: { guide: { system: 'You are a guide.' } },
      mailTemplates: {
        welcome: {
          subject: 'Welcome, {{name}}',
          html: '<p>Hello {{name}}: <a href="https://app.example.org/start">start here</a></p>',
          to: 'caller',
          fields: { name: 'string' },
        },
      },
      products: { mug: { name: 'Mug', amount: 1200, currency: 'eur', active: true } },
      onPaid: { order: { collection: 'orders', set: { status: 'paid' }, pays: 'items' } },
      webhooks: {},
    };
    const file = join(folder, 'wanted.json');
    await writeFile(file, JSON.stringify(wanted));
    const planned = await owner(shop, 'plan', shop.id, file);
    expect(planned).toContain('+ Collection "posts" is made:');
    expect(planned).toContain('Setting "payments" is "products-only"');
    const detailed = owner(shop, 'plan', shop.id, file, '--detailed-exitcode');
    await expect(detailed).rejects.toMatchObject({ code: 2 });
    await expect(owner(shop, 'apply', shop.id, file)).rejects.toMatchObject({ code: 1 });
    expect(await owner(shop, 'apply', shop.id, file, '--yes')).toBe(planned);

    const home = join(folder, 'backlot.json');
    await owner(shop, 'export', shop.id, '--out', home);
    expect(JSON.parse(await readFile(home, 'utf8'))).toEqual(wanted);
    for (const flags of [['plan', '--detailed-exitcode'], ['apply']]) {
      const [command = '', ...rest] = flags;
      expect(await owner(shop, command, shop.id, home, ...rest)).toBe('Nothing changes.\n');
    }
    await owner(twin, 'apply', twin.id, home, '--yes');
    expect(await owner(twin, 'export', twin.id)).toBe(await readFile(home, 'utf8'));

    const archive = join(folder, 'shop.tar');
    await owner(shop, 'archive', shop.id, archive, '--files', '--passwords');
    const restored = (await owner(shop, 'restore', archive, '--name', 'Again')).trim();
    expect(await owner(shop, 'export', restored)).toBe(await readFile(home, 'utf8'));
    const copied = (await owner(shop, 'copy', shop.id, 'Copy', '--records')).trim();
    expect(await owner(shop, 'export', copied)).toBe(await readFile(home, 'utf8'));

    const key = await keyOf(twin, ['admin']);
    const { onPaid: _, webhooks: _webhooks, ...visible } = wanted;
    expect(JSON.parse(await as(key, 'export', twin.id))).toEqual(visible);
    const { payments: _payments, ...settings } = wanted.settings;
    await writeFile(file, JSON.stringify({ settings }));
    const refused = await as(key, 'plan', twin.id, file).catch((error: unknown) => error);
    expect((refused as { stderr: string }).stderr).toContain('"settings.payments"');
    await writeFile(file, '{');
    const broken = await as(key, 'plan', twin.id, file).catch((error: unknown) => error);
    expect((broken as { stderr: string }).stderr).toContain('is no JSON');
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
