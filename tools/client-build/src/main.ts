/**
 * Writes the client's sdk.js, all of it as one file, which every installation serves; with --check it fails where the
 * file is not what the sources make. It is committed, so that nothing is built where the platform starts.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const toPath = (name: string) => fileURLToPath(import.meta.resolve(name));
const file = toPath('@backlot/client/sdk.js');
const maxGzippedBytes = 6 * 1024;

const { outputFiles } = await build({
  entryPoints: [toPath('@backlot/client')],
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  charset: 'utf8',
  write: false,
});
const text = outputFiles[0]?.text ?? '';
const size = gzipSync(text).length;
const problem =
  size > maxGzippedBytes
    ? `sdk.js has ${size} bytes gzipped; it may have ${maxGzippedBytes}.`
    : process.argv.includes('--check') && readFileSync(file, 'utf8') !== text
      ? 'sdk.js is not what its sources make: run pnpm sdk.'
      : undefined;
if (problem === undefined) writeFileSync(file, text);
else {
  console.error(problem);
  process.exitCode = 1;
}
