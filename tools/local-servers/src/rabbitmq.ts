import { createHash, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContainerCommand } from './process/container.ts';
import { answersWith } from './process/exchange.ts';
import { findFreePort } from './process/free-port.ts';
import { type OwnServer, type ProgramCommand, startOwnServer } from './process/own-server.ts';
import { findProgram, findServer } from './process/program-ladder.ts';
import { openServerFolder } from './process/server-folder.ts';

export interface RabbitmqOptions {
  /** Holds the data, the settings and the log. Created where needed; one server at a time. */
  dataDir: string;
  /** Of AMQP. Without it, a free port below the ephemeral range is chosen. */
  port?: number;
  /** The folder is removed by `stop()`. */
  throwaway?: boolean;
}

export interface RunningRabbitmq extends OwnServer {
  /** AMQP access to the virtual host `/`, password included. */
  url: string;
  port: number;
  /** The management pages and their HTTP API, with the same user and password. */
  managementUrl: string;
}

const image = 'rabbitmq:4';
const user = 'backlot';

interface Ports {
  amqp: number;
  management: number;
  /** Erlang's own. */
  distribution: number;
  epmd: number;
}

/**
 * Starts RabbitMQ on 127.0.0.1 with its management plugin, as a node of its own: it shares neither
 * name, port mapper, cookie nor data with one that already runs on this machine. Takes 3 to 6 s.
 * Throws when another living process holds the folder, or with what to install.
 */
export async function startRabbitmq(options: RabbitmqOptions): Promise<RunningRabbitmq> {
  const found = await findServer({
    name: 'RabbitMQ',
    // Debian's command on the PATH would change the user and drop our settings.
    candidates: ['/usr/lib/rabbitmq/bin/rabbitmq-server', 'rabbitmq-server'],
    debianPackage: 'rabbitmq-server',
    setting: 'AMQP_URL',
  });
  const folder = await openServerFolder(options.dataDir, 'rabbitmq', options.throwaway ?? false);
  try {
    const ports = await choosePorts(options.port);
    const password = await passwordIn(folder.dataDir);
    const command =
      found.kind === 'container'
        ? containerCommand(folder.dataDir, ports, password)
        : await programCommand(found.path, folder.dataDir, ports, password);
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    const managementUrl = `http://127.0.0.1:${ports.management}`;
    const server = await startOwnServer(
      {
        ...command,
        name: 'RabbitMQ',
        ready: async () =>
          // A method frame, by which the server opens the conversation.
          (await answersWith(ports.amqp, 'AMQP\0\0\x09\x01', (answer) => answer[0] === 1)) &&
          fetch(`${managementUrl}/api/vhosts`, { headers: { authorization } }).then(
            (answer) => answer.ok,
            () => false,
          ),
      },
      folder,
    );
    const url = `amqp://${user}:${password}@127.0.0.1:${ports.amqp}`;
    return { ...server, port: ports.amqp, url, managementUrl };
  } catch (error) {
    await folder.release();
    throw error;
  }
}

async function choosePorts(amqp: number | undefined): Promise<Ports> {
  const ports: number[] = [];
  let from = 26_000 + Math.floor(Math.random() * 5_000);
  while (ports.length < 4) {
    const port = await findFreePort(from);
    ports.push(port);
    from = port + 1;
  }
  const [first = 0, management = 0, distribution = 0, epmd = 0] = ports;
  return { amqp: amqp ?? first, management, distribution, epmd };
}

/** The user is made by the first start alone, so the password stays with the data. */
async function passwordIn(dataDir: string): Promise<string> {
  const file = join(dataDir, 'password');
  const present = await readFile(file, 'utf8').catch(() => undefined);
  if (present !== undefined) return present.trim();
  const password = randomBytes(24).toString('base64url');
  await writeFile(file, `${password}\n`, { mode: 0o600 });
  return password;
}

const shortHash = (dataDir: string) =>
  createHash('sha256').update(dataDir).digest('hex').slice(0, 16);

type Unnamed<Command> = Omit<Command, 'name' | 'ready'>;

async function programCommand(
  path: string,
  dataDir: string,
  ports: Ports,
  password: string,
): Promise<Unnamed<ProgramCommand>> {
  const at = (name: string) => join(dataDir, name);
  const settings = [
    `listeners.tcp.local = 127.0.0.1:${ports.amqp}`,
    'management.tcp.ip = 127.0.0.1',
    `management.tcp.port = ${ports.management}`,
    `default_user = ${user}`,
    `default_pass = ${password}`,
    'default_user_tags.administrator = true',
    'log.console.level = warning',
  ];
  await writeFile(at('rabbitmq.conf'), `${settings.join('\n')}\n`, { mode: 0o600 });
  await writeFile(at('enabled_plugins'), '[rabbitmq_management].\n');
  await writeFile(at('rabbitmq-env.conf'), '');
  const epmd = await findProgram(['epmd']);
  // In front, so that it ends with the group; without one, RabbitMQ starts one that stays.
  const portMapper = epmd === undefined ? '' : '"$EPMD" -address 127.0.0.1 & ';
  return {
    file: '/bin/sh',
    args: ['-c', `${portMapper}exec "$RABBITMQ"`],
    // Erlang's command line names the home.
    marker: `-home ${dataDir} `,
    env: {
      PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin:/opt/homebrew/bin`,
      LC_ALL: 'C.UTF-8',
      TZ: 'UTC',
      EPMD: epmd,
      RABBITMQ: path,
      HOME: dataDir,
      ERL_EPMD_PORT: String(ports.epmd),
      ERL_EPMD_ADDRESS: '127.0.0.1',
      ERL_FLAGS: '-kernel inet_dist_use_interface {127,0,0,1}',
      // Erlang takes the place of the start script, whose signal handling it would else wait for.
      RUNNING_UNDER_SYSTEMD: 'true',
      RABBITMQ_NODENAME: `backlot-${shortHash(dataDir)}@localhost`,
      RABBITMQ_DIST_PORT: String(ports.distribution),
      RABBITMQ_CONF_ENV_FILE: at('rabbitmq-env.conf'),
      RABBITMQ_CONFIG_FILE: at('rabbitmq.conf'),
      RABBITMQ_ADVANCED_CONFIG_FILE: at('advanced.config'),
      RABBITMQ_GENERATED_CONFIG_DIR: at('generated'),
      RABBITMQ_ENABLED_PLUGINS_FILE: at('enabled_plugins'),
      RABBITMQ_PLUGINS_EXPAND_DIR: at('plugins'),
      RABBITMQ_FEATURE_FLAGS_FILE: at('feature_flags'),
      RABBITMQ_MNESIA_BASE: at('data'),
      RABBITMQ_LOG_BASE: dataDir,
      RABBITMQ_LOGS: '-',
    },
  };
}

function containerCommand(
  dataDir: string,
  ports: Ports,
  password: string,
): Unnamed<ContainerCommand> {
  return {
    image,
    container: `backlot-rabbitmq-${shortHash(dataDir)}`,
    // The data is bound to the host's name, and outlives the container in a volume.
    hostname: 'backlot',
    dataPath: '/var/lib/rabbitmq',
    files: { '/etc/rabbitmq/enabled_plugins': '[rabbitmq_management].\n' },
    env: { RABBITMQ_DEFAULT_USER: user, RABBITMQ_DEFAULT_PASS: password },
    ports: { 5672: ports.amqp, 15672: ports.management },
  };
}
