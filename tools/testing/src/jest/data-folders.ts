import { createHash } from 'node:crypto';
import { mkdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';

const memory = '/dev/shm';

/** What the databases of a run take, with room to spare. */
const neededBytes = 4 * 1024 ** 3;

/**
 * Where a run's servers may keep their data, and where this run does: in memory, if Linux has enough. Every
 * database is hundreds of files, and ext4 is slow to make files where many were just deleted.
 */
export async function dataFolders(
  rootDir: string,
  name: string,
): Promise<{ all: string[]; chosen: string }> {
  const onDisk = join(rootDir, '.backlot', name);
  const checkout = createHash('sha256').update(rootDir).digest('hex').slice(0, 12);
  const inMemory = join(memory, `backlot-${checkout}`, name);
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }));
  const all = bavail * bsize > 0 ? [inMemory, onDisk] : [onDisk];
  for (const folder of all) await mkdir(folder, { recursive: true });
  return { all, chosen: bavail * bsize >= neededBytes ? inMemory : onDisk };
}
