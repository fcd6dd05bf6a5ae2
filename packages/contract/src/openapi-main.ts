import { readFileSync, writeFileSync } from 'node:fs';
import { openApiDocument } from './openapi/openapi.ts';
import { routes } from './routes/index.ts';

const file = new URL('../../../openapi.json', import.meta.url);
const written = `${JSON.stringify(openApiDocument(routes), null, 2)}\n`;

if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== written) {
    console.error(
      'openapi.json differs from the route definitions: run `pnpm openapi` and commit it.',
    );
    process.exitCode = 1;
  }
} else {
  writeFileSync(file, written);
}
