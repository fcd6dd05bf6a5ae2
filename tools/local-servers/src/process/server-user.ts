import { execFile, type SpawnOptions, spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A user other than root, because PostgreSQL refuses to run as root. */
export interface ServerUser {
  uid: number;
  gid: number;
}

/** How to start a program so that it may run and reach its files. */
export interface Launcher {
  command: string[];
  ids: { uid?: number; gid?: number };
}

const asOurselves: Launcher = { command: [], ids: {} };

/**
 * As root: the owner of the folder, else `postgres`, else `nobody`. Undefined when we are an
 * ordinary user, who runs the server under their own name.
 */
export async function chooseServerUser(dataDir: string): Promise<ServerUser | undefined> {
  const ourUid = process.getuid?.();
  if (ourUid === undefined) return undefined;
  const { uid, gid } = await stat(dataDir);
  if (ourUid !== 0) {
    if (uid === ourUid) return undefined;
    throw new Error(
      `${dataDir} belongs to user ${uid}, and we are user ${ourUid}: give the folder to this ` +
        'user (chown -R), choose another, or set DATABASE_URL.',
    );
  }
  if (uid !== 0) return { uid, gid };
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map((l) => l.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const account = accounts.find((fields) => fields[0] === name);
    const found = { uid: Number(account?.[2]), gid: Number(account?.[3]) };
    if (found.uid > 0 && found.gid > 0) return found;
  }
  throw new Error(
    'PostgreSQL refuses to run as root, and this machine has neither a user "postgres" nor ' +
      '"nobody": run as an ordinary user, create one of them, or set DATABASE_URL.',
  );
}

/**
 * Another user cannot pass a folder such as /root (mode 0700) on the way to the programs or the
 * data. Then the server gets one capability for that, and keeps no other right of root.
 */
export async function chooseLauncher(
  user: ServerUser | undefined,
  program: string,
  dataDir: string,
): Promise<Launcher> {
  const candidates = user === undefined ? [asOurselves] : launchersFor(user);
  let cause: unknown;
  for (const launcher of candidates) {
    try {
      // Both must be reachable: the program runs, and the folder is the server's to write.
      await runProgram(launcher, program, ['--version'], dataDir);
      await runProgram(launcher, ...writable(dataDir), dataDir);
      return launcher;
    } catch (error) {
      cause = error;
    }
  }
  throw new Error(launchFailure(user, program, dataDir), { cause });
}

/** Resolves when the program ended well; else throws what it wrote to stderr. */
export async function runProgram(
  launcher: Launcher,
  program: string,
  args: string[],
  cwd: string,
): Promise<void> {
  const [file = program, ...rest] = [...launcher.command, program, ...args];
  await run(file, rest, { ...launcher.ids, cwd, env: serverEnvironment(), timeout: 120_000 });
}

/** Starts a program in a session of its own, so that Ctrl-C in our terminal does not reach it. */
export function startProgram(
  launcher: Launcher,
  program: string,
  args: string[],
  options: Pick<SpawnOptions, 'cwd' | 'stdio'>,
) {
  const [file = program, ...rest] = [...launcher.command, program, ...args];
  return spawn(file, rest, {
    ...options,
    ...launcher.ids,
    env: serverEnvironment(),
    detached: true,
    windowsHide: true,
  });
}

function launchersFor(user: ServerUser): Launcher[] {
  const withCapability = (capability: string): Launcher => ({
    command: [
      'setpriv',
      `--reuid=${user.uid}`,
      `--regid=${user.gid}`,
      '--clear-groups',
      `--inh-caps=+${capability}`,
      `--ambient-caps=+${capability}`,
      `--bounding-set=-all,+${capability}`,
      // Or access(2), by which PostgreSQL looks for its own programs, ignores the capability.
      '--securebits=+no_setuid_fixup',
    ],
    ids: {},
  });
  // Containers usually lack dac_read_search but have dac_override.
  return [
    { command: [], ids: user },
    withCapability('dac_read_search'),
    withCapability('dac_override'),
  ];
}

function writable(dataDir: string): [program: string, args: string[]] {
  return process.platform === 'win32'
    ? ['cmd', ['/c', 'exit 0']]
    : ['/bin/sh', ['-c', 'test -w "$1"', 'sh', dataDir]];
}

function launchFailure(user: ServerUser | undefined, program: string, dataDir: string): string {
  if (user === undefined) {
    return (
      `PostgreSQL does not run here: ${program} cannot be executed, or ${dataDir} is not ` +
      'writable. On a system without glibc install PostgreSQL yourself and set DATABASE_URL.'
    );
  }
  return (
    `PostgreSQL has to run as user ${user.uid}, who cannot reach ${program} or ${dataDir}: a ` +
    'folder above them is closed to other users. Move the checkout out of it, open the folder ' +
    '(chmod o+x), run as an ordinary user, or set DATABASE_URL.'
  );
}

/**
 * How much glibc keeps of what a statement frees. With its usual 128 KiB a list of 50 records gave the same pages back
 * three times, and took 80 page faults: in a virtual machine where those are dear 720 in place of 1,660 lists a second.
 */
const memoryKept = { MALLOC_TRIM_THRESHOLD_: '4194304', MALLOC_MMAP_THRESHOLD_: '1048576' };

/** Nothing of our own environment, which may hold secrets and another locale. */
function serverEnvironment(): NodeJS.ProcessEnv {
  if (process.platform === 'win32') return process.env;
  return { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', ...memoryKept };
}
