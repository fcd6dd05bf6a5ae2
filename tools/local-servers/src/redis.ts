import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContainerCommand } from './process/container.ts';
import { answersWith } from './process/exchange.ts';
import { findFreePort } from './process/free-port.ts';
import { type OwnServer, type ProgramCommand, startOwnServer } from './process/own-server.ts';
import { type Found, findServer } from './process/program-ladder.ts';
import { openServerFolder } from './process/server-folder.ts';

export interface RedisOptions {
  /** Holds the settings and the log; Redis itself writes nothing down. Created where needed. */
  dataDir: string;
  /** Without it, a free port below the ephemeral range is chosen. */
  port?: number;
  /** The folder is removed by `stop()`. */
  throwaway?: boolean;
  /** Rules of these users in place of one password; what they write is in a log, and there after a start. */
  users?: readonly string[];
}

export interface RunningRedis extends OwnServer {
  /** Password included; that of no user where users are given. */
  url: string;
  port: number;
}

const image = 'redis:8';
/** More than the usual 16, so that many tests can have one each. */
const databases = 512;

/**
 * Starts Redis on 127.0.0.1, without persistence unless users are given: it is empty after each start. Throws when another
 * living process holds the folder, or with what to install when there is no Redis.
 */
export async function startRedis(options: RedisOptions): Promise<RunningRedis> {
  const found = await findServer({
    name: 'Redis',
    candidates: ['redis-server', 'valkey-server'],
    debianPackage: 'redis-server',
    setting: 'REDIS_URL',
  });
  const folder = await openServerFolder(options.dataDir, 'redis', options.throwaway ?? false);
  try {
    const port = options.port ?? (await findFreePort(24_000 + Math.floor(Math.random() * 2_000)));
    const password = randomBytes(24).toString('base64url');
    const settings = [
      ...(options.users ?? [`requirepass ${password}`]),
      `databases ${databases}`,
      'save ""',
      `appendonly ${options.users ? 'yes' : 'no'}`,
      'maxmemory-policy noeviction',
    ];
    const command = await commandFor(found, folder.dataDir, port, settings);
    const server = await startOwnServer(
      {
        ...command,
        name: 'Redis',
        ready: () =>
          options.users
            ? answersWith(port, 'PING\r\n', (answer) => answer.toString().startsWith('-NOAUTH'))
            : answersWith(port, `AUTH ${password}\r\nPING\r\n`, (answer) =>
                answer.toString('latin1').startsWith('+OK\r\n+PONG'),
              ),
      },
      folder,
    );
    return { ...server, port, url: `redis://:${password}@127.0.0.1:${port}` };
  } catch (error) {
    await folder.release();
    throw error;
  }
}

type Unnamed<Command> = Omit<Command, 'name' | 'ready'>;

async function commandFor(
  found: Found,
  dataDir: string,
  port: number,
  settings: string[],
): Promise<Unnamed<ProgramCommand> | Unnamed<ContainerCommand>> {
  if (found.kind === 'container') {
    return {
      image,
      container: `backlot-redis-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`,
      // The settings hold the password: through the environment, which `ps` does not show.
      command: ['sh', '-c', 'printf %s "$REDIS_SETTINGS" | exec redis-server -'],
      env: { REDIS_SETTINGS: settings.join('\n') },
      ports: { 6379: port },
    };
  }
  const conf = [`port ${port}`, 'bind 127.0.0.1', `dir ${dataDir}`, 'daemonize no', ...settings];
  const file = join(dataDir, 'redis.conf');
  await writeFile(file, `${conf.join('\n')}\n`, { mode: 0o600 });
  return {
    file: found.path,
    args: [file],
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
    // Redis gives its process this title.
    marker: `127.0.0.1:${port}`,
  };
}
