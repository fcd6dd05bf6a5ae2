import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type PublishedPackage, readPublishedFiles } from '@backlot/gateway';

export { type PublishedPackage, publishedPackages } from '@backlot/gateway';

/**
 * Writes what is published of a package into `folder`, which is emptied: what every installation serves as
 * `/packages/backlot-<name>.tgz`. `npm pack <folder>` makes the archive.
 */
export const buildPackage = async (name: PublishedPackage, folder: string): Promise<void> => {
  await rm(folder, { recursive: true, force: true });
  for (const { path, content } of await readPublishedFiles(name, 'https://api.example.org')) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
};
