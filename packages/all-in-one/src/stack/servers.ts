import { join } from 'node:path';
import { startPostgres, startRabbitmq, startRedis } from '@backlot/local-servers';

export interface ServerUrls {
  databaseUrl: string;
  redisUrl: string;
  amqpUrl: string;
}

/** Servers of one's own; each that is left out is started from what the machine has. */
export type GivenServers = { [Name in keyof ServerUrls]: string | undefined };

/** What has to be stopped is pushed to `running`. */
export const startServers = async (
  given: GivenServers,
  folder: string,
  running: (() => Promise<unknown>)[],
): Promise<ServerUrls> => {
  const own = async (
    start: typeof startPostgres | typeof startRedis | typeof startRabbitmq,
    name: string,
  ) => {
    const server = await start({ dataDir: join(folder, name) });
    running.push(() => server.stop());
    return server.url;
  };
  const [databaseUrl, redisUrl, amqpUrl] = await Promise.all([
    given.databaseUrl ?? own(startPostgres, 'postgres'),
    given.redisUrl ?? own(startRedis, 'redis'),
    given.amqpUrl ?? own(startRabbitmq, 'rabbitmq'),
  ]);
  return { databaseUrl, redisUrl, amqpUrl };
};
