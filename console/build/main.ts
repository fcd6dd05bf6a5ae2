/** Builds the console into the folder that is named, or into dist/built: `node build/main.ts [folder]`. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';

// Whatever that of the caller is: React is smaller and faster then.
process.env.NODE_ENV = 'production';
const root = fileURLToPath(new URL('..', import.meta.url));
const outDir = process.argv[2] ?? join(root, 'dist/built');
await build({ root, build: { outDir, emptyOutDir: true }, logLevel: 'warn' });

/** Compressed once, so that no call waits for it. */
const compress = async (path: string) => {
  const content = await readFile(path);
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
  await writeFile(`${path}.br`, await promisify(brotliCompress)(content, brotli));
  await writeFile(`${path}.gz`, await promisify(gzip)(content));
};
const files = await readdir(outDir, { recursive: true });
await Promise.all(
  files
    .filter((file) => /\.(js|css|html|svg)$/.test(file))
    .map((file) => compress(join(outDir, file))),
);
