/**
 * Writes what every installation serves of the client and the command: sdk.js and sdk-uploads.js, all of it as one
 * file each, with source maps and declarations, and the command's cli.js; with --check it fails where a file is not
 * what the sources make. They are committed, so that nothing is built where the platform starts.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describeBundles } from './declarations.ts';

const toPath = (name: string) => fileURLToPath(import.meta.resolve(name));
const client = fileURLToPath(new URL('.', import.meta.resolve('@backlot/client/sdk.js')));
const cli = fileURLToPath(new URL('.', import.meta.resolve('@backlot/cli/package.json')));

const bundles = [
  { source: '@backlot/client', file: 'sdk.js', maxGzippedBytes: 8 * 1024 },
  { source: '@backlot/client/uploads', file: 'sdk-uploads.js', maxGzippedBytes: 2 * 1024 },
];
const shared = { bundle: true, format: 'esm', charset: 'utf8', write: false } as const;

/** Paths and contents. */
const files: [string, string][] = [];

for (const { source, file, maxGzippedBytes } of bundles) {
  const { outputFiles } = await build({
    ...shared,
    entryPoints: [toPath(source)],
    outfile: client + file,
    minify: true,
    sourcemap: true,
    target: 'es2022',
    // Where Deno and editors that follow it look for types.
    banner: { js: `/* @ts-self-types="./${file.replace(/js$/, 'd.ts')}" */` },
  });
  for (const { path, text } of outputFiles) files.push([path, text]);
  const size = gzipSync(outputFiles.find(({ path }) => path.endsWith('.js'))?.text ?? '').length;
  if (size > maxGzippedBytes) {
    console.error(`${file} has ${size} bytes gzipped; it may have ${maxGzippedBytes}.`);
    process.exitCode = 1;
  }
}

const declarations = await describeBundles({
  sdk: toPath('@backlot/client'),
  uploads: toPath('@backlot/client/uploads'),
});
for (const [file, text] of Object.entries(declarations)) files.push([client + file, text]);

const { outputFiles } = await build({
  ...shared,
  entryPoints: [`${cli}src/main.ts`],
  platform: 'node',
  target: 'node22',
  packages: 'external',
});
for (const { text } of outputFiles) files.push([`${cli}cli.js`, text]);

for (const [path, text] of files) {
  if (!process.argv.includes('--check')) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(`${path} is not what its sources make: run pnpm sdk.`);
    process.exitCode = 1;
  }
}
