import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installPackages } from '@backlot/testing/install-packages';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest, usualModes } from './platform-under-test.ts';

const run = promisify(execFile);
const sdk = fileURLToPath(import.meta.resolve('@backlot/client/sdk.js'));
const root = fileURLToPath(new URL('../../../', import.meta.url));

describe.each(usualModes)('the documents of a project, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  let folder: string;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  let key: string;
  beforeAll(async () => {
    platform = await platformUnderTest(mode);
    folder = await mkdtemp(join(tmpdir(), 'backlot-documents-'));
    project = await platform.newProject();
    const { body } = await platform.control('POST', `/projects/${project.id}/keys`, {
      token: project.owner.token,
      body: { name: 'agent', scopes: ['read'] },
    });
    key = body.key;
  });
  afterAll(async () => {
    await platform.stop();
    await rm(folder, { recursive: true });
  });

  const read = async (path: string, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const url = `${platform.url}/api/runtime/${project.id}${path}`;
    const response = await fetch(url, { headers });
    expect(response.status).toBe(200);
    return response.text();
  };

  it('have three examples that run as they stand', async () => {
    const text = await read('/llms.txt');
    const blocks = [...text.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code);
    expect(blocks).toHaveLength(3);
    const printed: string[] = [];
    for (const [n, code] of blocks.entries()) {
      const file = join(folder, `example${n}.mjs`);
      const here = code
        .replace(/'[^']*\/sdk\.js'/, JSON.stringify(sdk))
        .replace(/'[^']*\/api\/runtime\//, `'${platform.url}/api/runtime/`);
      await writeFile(file, here);
      printed.push((await run(process.execPath, [file], { timeout: 60_000 })).stdout);
    }
    expect(printed[0]).toBe("[ 'Buy milk', 'Call Bob' ] false\n1\n");
    expect(printed[1]).toMatch(/^5 of 5 bytes\nhttp.*\/hello\.txt 1\n$/);
    expect(printed[2]?.trim()).not.toMatch(/^$|^\w+: /);
  });

  it('show a read key what the examples have made, and nobody else', async () => {
    for (const path of ['/llms.txt', '/llms-full.txt', '/openapi.json']) {
      expect(await read(path, key)).toMatch(/"priority"/);
      expect(await read(path, project.owner.token)).toBe(await read(path, key));
    }
    expect(await read('/openapi.json')).not.toContain('priority');
    expect(await read('/llms.txt')).not.toContain('(shared,');
  });

  it('are small enough for agents with 50 collections of 50 fields too, in whatever script', async () => {
    const { owner, api } = await platform.newProject();
    const { token } = owner;
    for (let n = 0; n < 50; n++) {
      const prefix = ['field', '名前', '𠀀𠀁𠀂𠀃'][n % 3];
      const names = Array.from({ length: 50 }, (_, m) => [`${prefix}${m}`, m]);
      const body = { data: Object.fromEntries(names) };
      expect((await api('POST', `/db/things${n}`, { token, body })).status).toBe(201);
    }
    const tokenizer = await installPackages(new URL('../packages/tokenizer/', import.meta.url));
    const files: string[] = [];
    for (const name of ['llms.txt', 'llms-full.txt']) {
      const { body } = await api('GET', `/${name}`, { token });
      expect(body.match(/^- `things\d+` /gm)).toHaveLength(50);
      expect(body).toMatch(/`things0` .*: "field0": number; .*4\d more$/m);
      files.push(join(tokenizer, name));
      await writeFile(join(tokenizer, name), body);
    }
    const { stdout } = await run(process.execPath, [join(tokenizer, 'count.js'), ...files]);
    const [brief, full] = JSON.parse(stdout);
    expect(brief).toBeLessThan(4000);
    expect(full).toBeLessThan(20_000);
    await rm(tokenizer, { recursive: true });
  });

  it('have types that make the client check names and values', async () => {
    const types = await read('/types.d.ts', key);
    const client = join(root, 'packages/client/src/index.ts');
    await writeFile(join(folder, 'project.mts'), types);
    await writeFile(
      join(folder, 'use.mts'),
      `import { createClient } from ${JSON.stringify(client)};
import type { Project } from './project.mts';
const { db } = createClient<Project>('x');
void db('todos').list({ where: { priority: { $gte: 1 } } }).then(({ items }) => items[0]?.title.trim());
// @ts-expect-error
void db('todo');
// @ts-expect-error
void db('todos').list({ where: { prio: 1 } });
// @ts-expect-error
void db('todos').create({ title: 1 });
`,
    );
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: join(root, 'tsconfig.base.json'),
        compilerOptions: { types: [], lib: ['es2024', 'dom'], exactOptionalPropertyTypes: false },
        files: ['use.mts'],
      }),
    );
    const checked = run(join(root, 'node_modules/.bin/tsc'), ['-p', folder]);
    await expect(checked).resolves.toMatchObject({ stdout: '' });
  });
});
