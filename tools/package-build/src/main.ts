/** Writes what is published to npm into .backlot/npm/<package>. */
import { fileURLToPath } from 'node:url';
import { buildPackage, publishedPackages } from './build-package.ts';

for (const name of publishedPackages) {
  const folder = fileURLToPath(new URL(`../../../.backlot/npm/${name}/`, import.meta.url));
  await buildPackage(name, folder);
  process.stdout.write(`${folder}\n`);
}
