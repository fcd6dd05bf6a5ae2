import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort, startPostgres } from '@backlot/local-servers';
import { until } from '@backlot/testing';
import type { Victim } from './os-process.ts';

export interface KeptPostgres extends Victim {
  url: string;
  stop(): Promise<void>;
}

/** PostgreSQL whose commits survive its crash. */
export const startKeptPostgres = async (dataDir: string): Promise<KeptPostgres> => {
  // Where nobody else looks for one: while it is dead, the next server of a developer or of another test
  // would take its port.
  const port = await findFreePort(11_000 + Math.floor(Math.random() * 4_000));
  let server = await startPostgres({ dataDir, port });
  const { url } = server;
  return {
    url,
    async kill() {
      const [pid] = (await readFile(join(dataDir, 'cluster/postmaster.pid'), 'utf8')).split('\n');
      process.kill(Number(pid), 'SIGKILL');
      await server.stop();
    },
    async restart() {
      // While a session of the dead server still ends, the next one refuses to start.
      server = await until(() => startPostgres({ dataDir, port }));
    },
    stop: () => server.stop(),
  };
};
