import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installPackages } from '@backlot/testing/install-packages';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

const run = promisify(execFile);

/** Path below what is installed, and flags; without a path it is the Node that runs this. */
const runtimes: Record<string, readonly string[]> = {
  'this Node': [],
  'the oldest Node of the client': ['node_modules/oldest-node/bin/node'],
  'the oldest Node of the command': ['node_modules/node/bin/node'],
  Bun: ['node_modules/.bin/bun'],
  Deno: ['node_modules/.bin/deno', 'run', '--allow-all'],
};

const app = `import { createClient } from '@backlot/client';
import { uploadInParts } from '@backlot/client/uploads';

const [, , baseUrl, email] = process.argv;
const client = createClient(baseUrl);
await client.auth.signUp({ email, password: 'a good long password' });
const { id } = await client.db('notes').create({ text: 'Hello', stars: 4 });
await client.db('notes').update(id, { inc: { stars: 1 } });
const found = [];
for await (const { stars } of client.db('notes').all({ where: { stars: { $gte: 5 } }, mine: true })) found.push(stars);
const text = 'x'.repeat(100_000);
const small = await client.storage.upload(new Blob([text]), { name: 'small.txt' });
const file = await uploadInParts(client, new File([text], 'Größe.txt'), { partBytes: 30_000 });
const bytes = (await (await fetch(file.url)).arrayBuffer()).byteLength;
let answer = '';
for await (const part of client.ai.stream({ messages: [{ role: 'user', content: 'Hello' }] })) answer += part;
const refused = await client.db('notes').list({ where: { a: { $near: 1 } } }).catch(({ code }) => code);
console.log(JSON.stringify({ found, sizes: [small.size, file.size, bytes], name: file.name, spoke: answer !== '', refused }));
`;

describe('the published packages, installed from the platform in an empty folder', () => {
  let platform: PlatformUnderTest;
  let folder: string;
  let empty: string;
  let installed: string;
  beforeAll(async () => {
    installed = await installPackages(new URL('../packages/runtimes/', import.meta.url));
    platform = await platformUnderTest('in-process');
    folder = await mkdtemp(join(tmpdir(), 'backlot-published-'));
    empty = join(folder, 'empty');
    await mkdir(empty);
    await writeFile(join(empty, 'package.json'), '{"type":"module"}');
    // No registry is asked: what they depend on comes along.
    const registry = '--registry=http://127.0.0.1:1';
    await run('npm', ['install', '--no-audit', '--no-fund', registry, ...archives()], {
      cwd: empty,
    });
    await writeFile(join(empty, 'app.js'), app);
  }, 300_000);
  afterAll(async () => {
    await platform?.stop();
    await rm(installed, { recursive: true });
    await rm(folder, { recursive: true });
  });

  const archives = () =>
    ['client', 'cli'].map((name) => `${platform.url}/packages/backlot-${name}.tgz`);

  it('run by npx, as the documents of the platform say', async () => {
    const { stdout } = await run(
      'npx',
      ['-y', `${platform.url}/packages/backlot-cli.tgz`, '--help'],
      {
        cwd: folder,
        env: { ...process.env, npm_config_cache: join(folder, 'npm-cache') },
      },
    );
    expect(stdout).toContain('Usage: backlot');
  });

  const runUnder = (name: string, args: readonly string[], env = process.env) => {
    const [path, ...flags] = runtimes[name] ?? [];
    const program = path === undefined ? process.execPath : join(installed, path);
    return run(program, [...flags, ...args], { cwd: empty, env });
  };

  it.each(Object.keys(runtimes))('serve an app under %s', async (name) => {
    const { id } = await platform.newProject();
    const baseUrl = `${platform.url}/api/runtime/${id}`;
    const { stdout } = await runUnder(name, [join(empty, 'app.js'), baseUrl, 'ada@example.org']);
    expect(JSON.parse(stdout)).toEqual({
      found: [5],
      sizes: [100_000, 100_000, 100_000],
      name: 'Größe.txt',
      spoke: true,
      refused: 'invalid_where',
    });
  });

  it.each(['this Node', 'the oldest Node of the command'])(
    'give owners the command under %s',
    async (name) => {
      const command = join(empty, 'node_modules/@backlot/cli/cli.js');
      const env = { ...process.env, XDG_CONFIG_HOME: folder };
      const backlot = async (...args: string[]) =>
        (await runUnder(name, [command, ...args], env)).stdout;
      const manifest = new URL('../../../packages/cli/package.json', import.meta.url);
      const { version } = JSON.parse(await readFile(manifest, 'utf8'));
      expect(await backlot('--version')).toBe(`${version}\n`);

      const { id, owner } = await platform.newProject();
      const password = { ...env, BACKLOT_PASSWORD: 'a good long password' };
      const login = ['login', '--host', platform.url, '--email', owner.email];
      await runUnder(name, [command, ...login], password);
      expect(await backlot('projects')).toContain(id);
      expect(await backlot('types', id)).toContain('export interface Project');
    },
  );
});
