import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const publishedPackages = ['client', 'cli'] as const;
export type PublishedPackage = (typeof publishedPackages)[number];

interface Manifest {
  name: string;
  version: string;
  description: string;
  bin?: Record<string, string>;
  exports: Record<string, string>;
  dependencies?: Record<string, string>;
  engines?: Record<string, string>;
}

const packages = new URL('../../../packages/', import.meta.url);
const compiler = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin/tsc',
);

/** The oldest Node whose `fetch`, `File` and readable streams the client can rely on. */
const oldestEngines = { node: '>=20' };

const compile = async (entries: string[], folder: string, lib: string, types: string) => {
  const options = {
    ...{ outDir: folder, module: 'nodenext', target: 'es2022', lib, types },
    ...{ strict: true, declaration: true, rewriteRelativeImportExtensions: true },
    ...{ verbatimModuleSyntax: true, skipLibCheck: true, ignoreConfig: true },
  };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const cwd = fileURLToPath(new URL('../', packages));
  await promisify(execFile)(process.execPath, [compiler, ...entries, ...flags], { cwd });
};

/** The compiler leaves the endings of imports in declarations as the sources have them. */
const rewriteDeclarations = async (folder: string) => {
  const names = await readdir(folder, { recursive: true });
  for (const name of names.filter((name) => name.endsWith('.d.ts'))) {
    const file = join(folder, name);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace(/(from |import\()(['"]\.[^'"]*)\.ts(['"])/g, '$1$2.js$3'));
  }
};

const toJs = (path: string) => path.replace(/^\.\/src\//, './').replace(/\.ts$/, '.js');

const publishedExports = (exports: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(exports)
      .filter(([, path]) => path.endsWith('.ts'))
      .map(([name, path]) => [name, toJs(path)]),
  );

const publishedManifest = ({
  name,
  version,
  description,
  bin,
  exports,
  dependencies,
  engines = oldestEngines,
}: Manifest) => ({
  ...{ name, version, description, license: 'UNLICENSED', type: 'module', engines },
  exports: { ...publishedExports(exports), './package.json': './package.json' },
  ...(bin
    ? {
        bin: Object.fromEntries(
          Object.entries(bin).map(([command, path]) => [command, toJs(path)]),
        ),
      }
    : { sideEffects: false }),
  ...(dependencies && { dependencies }),
});

/**
 * Writes what is published of a package into `folder`, which is emptied: JavaScript modules, their
 * declarations, a manifest and the README. `npm pack <folder>` makes the archive.
 */
export const buildPackage = async (name: PublishedPackage, folder: string): Promise<void> => {
  const source = fileURLToPath(new URL(`${name}/`, packages));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const manifest = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as Manifest;
  const runsInNode = manifest.bin !== undefined;
  const entries = Object.values(manifest.bin ?? manifest.exports).filter((path) =>
    path.endsWith('.ts'),
  );
  await compile(
    entries.map((path) => join(source, path)),
    folder,
    runsInNode ? 'es2023' : 'es2022,dom,dom.asynciterable',
    runsInNode ? 'node' : '',
  );
  await rewriteDeclarations(folder);
  await copyFile(join(source, 'README.md'), join(folder, 'README.md'));
  const text = `${JSON.stringify(publishedManifest(manifest), null, 2)}\n`;
  await writeFile(join(folder, 'package.json'), text);
};
