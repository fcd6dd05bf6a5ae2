import { connect } from 'node:net';
import { join } from 'node:path';
import { startPostgres, startRabbitmq, startRedis } from '@backlot/local-servers';

export interface ServerUrls {
  databaseUrl: string;
  redisUrl: string;
  amqpUrl: string;
}

/** Servers of one's own; each that is left out is started from what the machine has. */
export type GivenServers = { [Name in keyof ServerUrls]: string | undefined };

interface OwnServer {
  url: string;
  port: number;
  stop(): Promise<void>;
}

const checkMs = 500;

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

/** Starts a server again that nobody listens on any more; answers how to end both. */
const keep = (
  server: OwnServer,
  again: () => Promise<OwnServer>,
  report: (text: string) => void,
) => {
  let current = server;
  let ended = false;
  const watch = async () => {
    while (!ended) {
      if (!(await accepts(server.port)) && !ended) {
        report('ended; starts again');
        current = await again();
      }
      await new Promise((resolve) => setTimeout(resolve, checkMs));
    }
  };
  const watching = watch().catch((error: unknown) => report(`can not start again: ${error}`));
  return async () => {
    ended = true;
    await watching;
    await current.stop();
  };
};

/** What has to be stopped is pushed to `running`. */
export const startServers = async (
  given: GivenServers,
  folder: string,
  running: (() => Promise<unknown>)[],
  report: (server: string, text: string) => void = () => {},
): Promise<ServerUrls> => {
  const dataDirFor = (name: string) => join(folder, name);
  const kept = (name: string, server: OwnServer, again: () => Promise<OwnServer>) => {
    running.push(keep(server, again, (text) => report(name, text)));
    return server.url;
  };
  const ownPostgres = async () => {
    const dataDir = dataDirFor('postgres');
    const server = await startPostgres({ dataDir });
    let current = server;
    return kept('postgres', server, async () => {
      await current.stop();
      current = await startPostgres({ dataDir, port: server.port });
      return current;
    });
  };
  const own = async (start: typeof startRedis | typeof startRabbitmq, name: string) => {
    const server = await start({ dataDir: dataDirFor(name) });
    return kept(name, server, async () => {
      await server.restart();
      return server;
    });
  };
  const [databaseUrl, redisUrl, amqpUrl] = await Promise.all([
    given.databaseUrl ?? ownPostgres(),
    given.redisUrl ?? own(startRedis, 'redis'),
    given.amqpUrl ?? own(startRabbitmq, 'rabbitmq'),
  ]);
  return { databaseUrl, redisUrl, amqpUrl };
};
