/**
 * Writes the client's sdk.js and sdk-uploads.js, all of it as one file each, which every installation serves; with
 * --check it fails where a file is not what the sources make. They are committed, so that nothing is built where the
 * platform starts.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const bundles = [
  { source: '@backlot/client', file: 'sdk.js', maxGzippedBytes: 6 * 1024 },
  { source: '@backlot/client/uploads', file: 'sdk-uploads.js', maxGzippedBytes: 2 * 1024 },
];
const toPath = (name: string) => fileURLToPath(import.meta.resolve(name));

for (const { source, file, maxGzippedBytes } of bundles) {
  const { outputFiles } = await build({
    entryPoints: [toPath(source)],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    write: false,
  });
  const text = outputFiles[0]?.text ?? '';
  const size = gzipSync(text).length;
  const target = toPath(`@backlot/client/${file}`);
  if (size > maxGzippedBytes) {
    console.error(`${file} has ${size} bytes gzipped; it may have ${maxGzippedBytes}.`);
    process.exitCode = 1;
  } else if (!process.argv.includes('--check')) writeFileSync(target, text);
  else if (readFileSync(target, 'utf8') !== text) {
    console.error(`${file} is not what its sources make: run pnpm sdk.`);
    process.exitCode = 1;
  }
}
