/**
 * Writes what every installation serves of the client and the command: sdk.js and what stands beside it, each as one
 * file, with source maps and declarations, and the command's cli.js; with --check it fails where a file is not
 * what the sources make. They are committed, so that nothing is built where the platform starts.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { describeBundles } from './declarations.ts';

const toPath = (name: string) => fileURLToPath(import.meta.resolve(name));
const client = fileURLToPath(new URL('.', import.meta.resolve('@backlot/client/sdk.js')));
const cli = fileURLToPath(new URL('.', import.meta.resolve('@backlot/cli/package.json')));

// More than 8 KB since there are channels and several ways to sign in.
const maxGzippedBytes = 8.75 * 1024;

const bundles = [
  { source: '@backlot/client', file: 'sdk.js', maxGzippedBytes, isTyped: true },
  {
    source: '@backlot/client/uploads',
    file: 'sdk-uploads.js',
    maxGzippedBytes: 2 * 1024,
    isTyped: true,
  },
  // Loaded by sdk.js when something becomes live: nobody imports it, so that it needs no types.
  {
    source: '@backlot/client/live',
    file: 'sdk-live.js',
    maxGzippedBytes,
    isTyped: false,
  },
  // Loaded by sdk.js with the first way to sign in beside a password.
  {
    source: '@backlot/client/accounts',
    file: 'sdk-accounts.js',
    maxGzippedBytes: 4 * 1024,
    isTyped: false,
  },
  // Loaded by sdk.js where an answer asks for a proof of work.
  {
    source: '@backlot/client/proof',
    file: 'sdk-proof.js',
    maxGzippedBytes: 1024,
    isTyped: false,
  },
  {
    source: '@backlot/client/sign-in',
    file: 'sdk-sign-in.js',
    maxGzippedBytes: 8 * 1024,
    isTyped: true,
  },
  {
    source: '@backlot/client/react',
    file: 'sdk-react.js',
    maxGzippedBytes: 2 * 1024,
    isTyped: true,
  },
];
const later = [
  [/\/live-lists\.ts$/, './sdk-live.js'],
  [/\/sign-in\/element\.ts$/, './sdk-sign-in.js'],
  [/\/accounts\/accounts\.ts$/, './sdk-accounts.js'],
  [/\/proof\.ts$/, './sdk-proof.js'],
] as const;
/** What is loaded later stays a module of its own. */
const besides: Plugin = {
  name: 'besides',
  setup(build) {
    for (const [filter, path] of later)
      build.onResolve({ filter }, ({ kind }) =>
        kind === 'dynamic-import' ? { path, external: true } : undefined,
      );
    // The form's client is the page's own.
    build.onResolve({ filter: /^\.\.\/index\.ts$/ }, () => ({ path: './sdk.js', external: true }));
  },
};
const shared = { bundle: true, format: 'esm', charset: 'utf8', write: false } as const;

/** Paths and contents. */
const files: [string, string][] = [];

for (const { source, file, maxGzippedBytes, isTyped } of bundles) {
  const { outputFiles } = await build({
    ...shared,
    entryPoints: [toPath(source)],
    outfile: client + file,
    minify: true,
    sourcemap: true,
    target: 'es2022',
    plugins: [besides],
    external: ['react'],
    // Where Deno and editors that follow it look for types.
    ...(isTyped && { banner: { js: `/* @ts-self-types="./${file.replace(/js$/, 'd.ts')}" */` } }),
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
  besides: {
    'sdk-uploads.d.ts': toPath('@backlot/client/uploads'),
    'sdk-sign-in.d.ts': toPath('@backlot/client/sign-in'),
    'sdk-react.d.ts': toPath('@backlot/client/react'),
  },
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
