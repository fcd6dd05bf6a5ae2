import { randomBytes } from 'node:crypto';
import { chown, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Launcher, runProgram, type ServerUser } from '../process/server-user.ts';
import { type Binaries, postgresMajor } from './binaries.ts';

export const superuser = 'backlot';

/** What lies in a data folder of ours. */
export interface ClusterFiles {
  dataDir: string;
  /** PostgreSQL's own folder. */
  cluster: string;
  /** The superuser's password, readable by the server's user alone. */
  passwordFile: string;
  logFile: string;
  /** Tells a folder of ours, and whether its data may be thrown away. */
  kindFile: string;
}

export type ClusterKind = 'kept' | 'throwaway';

/** Creates the folder where needed. Throws on a folder that holds anything else than ours. */
export async function openFolder(dir: string): Promise<ClusterFiles> {
  // Only the last folder is closed: as root, the server's user has to pass those above it.
  await mkdir(dirname(resolve(dir)), { recursive: true });
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const dataDir = await realpath(dir);
  return {
    dataDir,
    cluster: join(dataDir, 'cluster'),
    passwordFile: join(dataDir, 'password'),
    logFile: join(dataDir, 'postgres.log'),
    kindFile: join(dataDir, 'kind'),
  };
}

/** Refuses to touch a stranger's folder, to keep throwaway data and to throw away kept data. */
export async function checkFolder(files: ClusterFiles, kind: ClusterKind): Promise<void> {
  const present = await readKind(files);
  if (present === kind) return;
  if (present !== undefined) {
    throw new Error(`${files.dataDir} holds ${present} data, and ${kind} data was asked for.`);
  }
  if ((await readdir(files.dataDir)).length > 0) {
    throw new Error(`${files.dataDir} is neither empty nor a PostgreSQL folder of Backlot.`);
  }
}

/** Makes a new cluster unless there is one. Interrupted, it leaves nothing half made in place. */
export async function createCluster(
  files: ClusterFiles,
  kind: ClusterKind,
  binaries: Binaries,
  launcher: Launcher,
  user: ServerUser | undefined,
): Promise<void> {
  const version = (await readOptional(join(files.cluster, 'PG_VERSION')))?.trim();
  if (version === postgresMajor) return;
  if (version !== undefined) {
    throw new Error(
      `${files.dataDir} holds data of PostgreSQL ${version}, and this is ${postgresMajor}: dump ` +
        'it with the older version, or move the folder away to begin anew.',
    );
  }
  const unfinished = join(files.dataDir, 'cluster.new');
  await rm(unfinished, { recursive: true, force: true });
  await writeOwn(files.kindFile, `${kind}\n`, user);
  await writeOwn(files.passwordFile, `${randomBytes(24).toString('base64url')}\n`, user);
  await runProgram(
    launcher,
    binaries.initdb,
    [
      `--pgdata=${unfinished}`,
      `--username=${superuser}`,
      `--pwfile=${files.passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // Text sorts by code point, the same on every machine.
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      '--no-instructions',
      ...(kind === 'throwaway'
        ? ['--no-sync', '--no-data-checksums', '--set=scram_iterations=1']
        : []),
    ],
    files.dataDir,
  );
  await rename(unfinished, files.cluster);
}

/** Undefined for a folder that is not ours. */
export async function readKind(files: ClusterFiles): Promise<string | undefined> {
  return (await readOptional(files.kindFile))?.trim();
}

export async function readPassword(files: ClusterFiles): Promise<string> {
  return (await readFile(files.passwordFile, 'utf8')).trim();
}

async function writeOwn(path: string, text: string, user: ServerUser | undefined): Promise<void> {
  await writeFile(path, text, { mode: 0o600 });
  if (user !== undefined) await chown(path, user.uid, user.gid);
}

async function readOptional(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
