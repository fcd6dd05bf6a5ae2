import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { publint } from 'publint';
import { buildPackage, type PublishedPackage, publishedPackages } from './build-package.ts';

const run = promisify(execFile);

describe.each(publishedPackages)('the published package %s', (name: PublishedPackage) => {
  let folder: string;
  let tarball: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'backlot-package-'));
    await buildPackage(name, join(folder, 'built'));
    await run('npm', ['pack', './built', '--pack-destination', folder], { cwd: folder });
    const [file = ''] = (await readdir(folder)).filter((entry) => entry.endsWith('.tgz'));
    tarball = join(folder, file);
  }, 120_000);
  afterAll(() => rm(folder, { recursive: true }));

  it('has nothing that publint finds', async () => {
    const { messages } = await publint({
      pkgDir: join(folder, 'built'),
      strict: true,
      pack: false,
    });
    expect(messages).toEqual([]);
  });

  it('has types for everybody who can import it', async () => {
    const content = createPackageFromTarballData(new Uint8Array(await readFile(tarball)));
    const checked = await checkPackage(content);
    const problems = 'problems' in checked ? checked.problems : [];
    // It has no CommonJS: require() of Node 20.19 and later takes modules too.
    const kinds = problems.map(({ kind }) => kind).filter((kind) => kind !== 'CJSResolvesToESM');
    // A command is imported by nobody.
    expect([...new Set(kinds)]).toEqual(name === 'cli' ? ['NoResolution'] : []);
  });

  it('holds no source, no test and no name of this repository’s packages', async () => {
    const files = await readdir(join(folder, 'built'), { recursive: true });
    expect(files.filter((file) => /(?<!\.d)\.ts$|\.test\./.test(file))).toEqual([]);
    const manifest = await readFile(join(folder, 'built/package.json'), 'utf8');
    expect(manifest).not.toContain('workspace:');
  });

  it('works in an empty folder, installed from its archive', async () => {
    const empty = join(folder, 'empty');
    await mkdir(empty);
    await writeFile(join(empty, 'package.json'), '{"type":"module"}');
    // What it depends on comes from here, so that no registry is needed.
    const cli = new URL('.', import.meta.resolve('@backlot/cli/package.json'));
    const commander = fileURLToPath(new URL('node_modules/commander', cli));
    const others = name === 'cli' ? [commander] : [];
    const flags = ['--no-audit', '--no-fund', '--offline', '--install-links'];
    await run('npm', ['install', ...flags, tarball, ...others], { cwd: empty });
    await writeFile(
      join(empty, 'use.js'),
      `import { BacklotError, createClient } from '@backlot/client';
const client = createClient('http://localhost:1/api/runtime/demo', { retries: 0 });
const error = await client.db('todos').list().catch((error) => error);
console.log(error instanceof BacklotError, error.code);`,
    );
    const uses = {
      client: [process.execPath, 'use.js'],
      cli: ['node_modules/.bin/backlot', '--help'],
    };
    const [command = '', ...args] = uses[name];
    const { stdout } = await run(command, args, { cwd: empty });
    expect(stdout).toContain(name === 'cli' ? 'Usage: backlot' : 'true network');
  });
});
