import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findContainerEngine } from './container.ts';
import { type HeldLock, tryLock } from './lock.ts';

const run = promisify(execFile);

export interface ProgramNeeded {
  /** The server's name as people say it. */
  name: string;
  /** Names or absolute paths, the best first. */
  candidates: string[];
  /** One, or several with spaces between. */
  debianPackage: string;
  /** Without it, the Debian package's name without `-server`. */
  homebrewPackage?: string;
  /** The variable that makes a local server needless. */
  setting?: string;
  /** Set where no image of it is kept. */
  notInDocker?: true;
}

export type Found = { kind: 'program'; path: string } | { kind: 'container' };

/**
 * The program itself, else a container where an engine answers, else the Debian package, installed as
 * root. @throws with what to install
 */
export async function findServer(
  needed: ProgramNeeded & { notInDocker: true },
): Promise<Found & { kind: 'program' }>;
export async function findServer(
  needed: ProgramNeeded,
  findEngine?: () => Promise<boolean>,
): Promise<Found>;
export async function findServer(
  needed: ProgramNeeded,
  findEngine = findContainerEngine,
): Promise<Found> {
  const path = await findProgram(needed.candidates);
  if (path !== undefined) return { kind: 'program', path };
  if (!needed.notInDocker && (await findEngine())) return { kind: 'container' };
  const aptGet = process.getuid?.() === 0 ? await findProgram(['apt-get']) : undefined;
  const cause = aptGet === undefined ? undefined : await install(aptGet, needed.debianPackage);
  const installed = await findProgram(needed.candidates);
  if (installed !== undefined) return { kind: 'program', path: installed };
  throw new Error(`${needed.name} is needed and not here. ${adviceOn(needed)}.`, { cause });
}

function adviceOn({ debianPackage, homebrewPackage, setting, notInDocker }: ProgramNeeded): string {
  const homebrew = homebrewPackage ?? debianPackage.replace('-server', '');
  const ways = [
    `Install it (Debian and Ubuntu: apt-get install ${debianPackage}; macOS: brew install ${homebrew})`,
    ...(notInDocker ? [] : ['or start Docker']),
    ...(setting === undefined ? [] : [`or set ${setting} to a server of yours`]),
  ];
  return ways.join(', ');
}

/** Also where an ordinary user's PATH does not lead although servers are there. */
export async function findProgram(candidates: string[]): Promise<string | undefined> {
  const path = (process.env.PATH ?? '').split(delimiter);
  const folders = [...path, '/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin'].filter(Boolean);
  for (const candidate of candidates) {
    const places = candidate.startsWith('/') ? [''] : folders;
    for (const folder of places) {
      const file = join(folder, candidate);
      if (await isExecutable(file)) return file;
    }
  }
  return undefined;
}

/** Says what went wrong, if anything did. The package's own service stays off. */
async function install(aptGet: string, debianPackage: string): Promise<unknown> {
  const policy = '/usr/sbin/policy-rc.d';
  const lock = await holdPackages();
  const options = {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 600_000,
    maxBuffer: 64 * 1024 * 1024,
  };
  const ours = await writeFile(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755, flag: 'wx' }).then(
    () => true,
    () => false,
  );
  try {
    await run(aptGet, ['update'], options).catch(() => undefined);
    await run(
      aptGet,
      [
        '-o',
        'DPkg::Lock::Timeout=300',
        'install',
        '-y',
        '--no-install-recommends',
        ...debianPackage.split(' '),
      ],
      options,
    );
    return undefined;
  } catch (error) {
    return error;
  } finally {
    if (ours) await rm(policy, { force: true });
    await lock?.release();
  }
}

/** Processes that find a program missing at the same moment install one after the other. */
async function holdPackages(): Promise<HeldLock | undefined> {
  for (const end = Date.now() + 600_000; Date.now() < end; await setTimeout(200)) {
    const held = await tryLock('/var/lib/dpkg');
    if (held !== undefined) return held;
  }
  return undefined;
}

function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
