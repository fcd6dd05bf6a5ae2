import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answersWith } from './process/exchange.ts';
import { findFreePort } from './process/free-port.ts';
import { asOrdinaryUser } from './process/ordinary-user.ts';
import { type OwnServer, startOwnServer } from './process/own-server.ts';
import { findServer } from './process/program-ladder.ts';
import { openServerFolder } from './process/server-folder.ts';

export interface PgbouncerOptions {
  /** Holds the log. */
  dataDir: string;
  poolMode: 'session' | 'transaction' | 'statement';
  /** Of PostgreSQL, as each user that comes; one server. */
  urls: readonly [string, ...string[]];
  /** To the server, for each database and user. Default 20, as PgBouncer's. */
  poolSize?: number;
}

export interface RunningPgbouncer extends OwnServer {
  /** The same address by way of PgBouncer. */
  through(url: string): string;
}

/** PostgreSQL's request for TLS, which is answered with a letter. */
const sslRequest = '\x00\x00\x00\x08\x04\xd2\x16\x2f';

const quoted = (text: string) => `"${decodeURIComponent(text).replaceAll('"', '""')}"`;

const settings = (place: string, port: number, { urls, poolMode, poolSize }: PgbouncerOptions) => {
  const { hostname, port: serverPort } = new URL(urls[0]);
  return `
[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = md5
auth_file = ${place}/users.txt
pool_mode = ${poolMode}
default_pool_size = ${poolSize ?? 20}
max_client_conn = 500
`;
};

/** PgBouncer on 127.0.0.1, otherwise as it comes. Throws with what to install when there is none. */
export async function startPgbouncer(options: PgbouncerOptions): Promise<RunningPgbouncer> {
  const { path } = await findServer({
    name: 'PgBouncer',
    candidates: ['pgbouncer'],
    debianPackage: 'pgbouncer',
    notInDocker: true,
  });
  const folder = await openServerFolder(options.dataDir, 'pgbouncer', true);
  const place = await mkdtemp(join(tmpdir(), 'backlot-pgbouncer-'));
  const remove = () => rm(place, { recursive: true, force: true, maxRetries: 5 });
  try {
    const port = await findFreePort(28_000 + Math.floor(Math.random() * 2_000));
    const file = join(place, 'pgbouncer.ini');
    const users = options.urls.map((url) => {
      const { username, password } = new URL(url);
      return `${quoted(username)} ${quoted(password)}\n`;
    });
    await writeFile(file, settings(place, port, options), { mode: 0o600 });
    await writeFile(join(place, 'users.txt'), users.join(''), { mode: 0o600 });
    const server = await startOwnServer(
      {
        name: 'PgBouncer',
        ...(await asOrdinaryUser(path, [file], place)),
        env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
        marker: file,
        ready: () => answersWith(port, sslRequest, (answer) => answer.length > 0),
      },
      folder,
    );
    return {
      ...server,
      through: (url) => Object.assign(new URL(url), { hostname: '127.0.0.1', port }).href,
      stop: () => server.stop().finally(remove),
    };
  } catch (error) {
    await folder.release();
    await remove();
    throw error;
  }
}
