import { execFile } from 'node:child_process';
import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Installs what the lockfile of a folder says. */
export const installIn = async (folder: string): Promise<void> => {
  const args = ['-y', 'pnpm@12', 'install', '--frozen-lockfile', '--prefer-offline'];
  await promisify(execFile)('npx', args, { cwd: folder });
};

/**
 * Installs what a single test needs and nobody else should have to, in a copy of a folder with a lockfile
 * of its own. From pnpm's store it takes a second; what is not there yet comes from the registry.
 * @returns the copy, for the caller to remove
 */
export const installPackages = async (folder: URL): Promise<string> => {
  const copy = await mkdtemp(join(tmpdir(), 'backlot-packages-'));
  await cp(fileURLToPath(folder), copy, { recursive: true });
  await installIn(copy);
  return copy;
};
