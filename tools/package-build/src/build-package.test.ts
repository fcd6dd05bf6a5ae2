import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installPackages } from '@backlot/testing/install-packages';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildPackage, type PublishedPackage, publishedPackages } from './build-package.ts';

const run = promisify(execFile);

let linters: string;
beforeAll(async () => {
  linters = await installPackages(new URL('../packages/linters/', import.meta.url));
});
afterAll(() => rm(linters, { recursive: true }));

describe.each(publishedPackages)('the published package %s', (name: PublishedPackage) => {
  let folder: string;
  let found: { messages: unknown[]; isTyped: boolean; kinds: string[] };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'backlot-package-'));
    const built = join(folder, 'built');
    await buildPackage(name, built);
    await run('npm', ['pack', './built', '--pack-destination', folder], { cwd: folder });
    const [file = ''] = (await readdir(folder)).filter((entry) => entry.endsWith('.tgz'));
    const args = [join(linters, 'lint.js'), built, join(folder, file)];
    found = JSON.parse((await run(process.execPath, args)).stdout);
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('has nothing that publint finds', () => {
    expect(found.messages).toEqual([]);
  });

  it('has types for everybody who can import it', () => {
    // The command can be imported by nobody.
    expect(found.isTyped).toBe(name === 'client');
    // It has no CommonJS: require() of Node 20.19 and later takes modules too.
    expect(found.kinds.filter((kind) => kind !== 'CJSResolvesToESM')).toEqual([]);
  });

  it('holds no source, no test and no name of this repository’s packages', async () => {
    const files = await readdir(join(folder, 'built'), { recursive: true });
    expect(files.filter((file) => /(?<!\.d)\.ts$|\.test\./.test(file))).toEqual([]);
    const manifest = await readFile(join(folder, 'built/package.json'), 'utf8');
    expect(manifest).not.toContain('workspace:');
  });
});
