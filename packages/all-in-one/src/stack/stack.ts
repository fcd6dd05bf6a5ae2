import { join } from 'node:path';
import { migrate } from '@backlot/database';
import type { PlatformConfig } from '../config.ts';
import { migrations } from '../migrations.ts';
import { loadSecrets } from '../secrets.ts';
import type { Seeded } from '../seed.ts';
import { createLogLines } from './log-lines.ts';
import { planStack } from './programs.ts';
import { seedDatabase } from './seed-database.ts';
import { startServers } from './servers.ts';
import { supervise } from './supervisor.ts';

export interface Stack extends Seeded {
  /** Of the gateways. */
  urls: string[];
  operatorToken: string;
  stop(): Promise<void>;
}

const readyMs = 60_000;

const untilReady = async (url: string) => {
  const deadline = performance.now() + readyMs;
  for (;;) {
    const ready = await fetch(`${url}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ready) return;
    if (performance.now() > deadline) throw new Error(`${url} was not ready within ${readyMs} ms.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

/** Every service as a process of its own, two gateways in front; stopped in the reverse order. */
export const startStack = async (
  config: PlatformConfig,
  write: (text: string) => void,
  colorize: boolean,
): Promise<Stack> => {
  const running: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const each of running.splice(0).reverse()) await each();
  };
  try {
    const folder = join(config.dataDir, 'stack');
    const secrets = await loadSecrets(folder);
    const { databaseUrl, settings } = config;
    const given = { databaseUrl, redisUrl: settings.REDIS_URL, amqpUrl: settings.AMQP_URL };
    const servers = await startServers(given, folder, running, (server, text) =>
      write(`${server} ${text}\n`),
    );
    for (const each of migrations) await migrate({ url: servers.databaseUrl, ...each });
    const seeded = await seedDatabase(servers.databaseUrl, settings, secrets);

    const plan = planStack(config.port, servers, secrets, settings, join(config.dataDir, 'files'));
    const names = [...plan.services, ...plan.gateways].map(({ name }) => name);
    const options = { onLine: createLogLines(names, write, colorize) };
    for (const group of [plan.services, plan.gateways]) {
      const supervised = group.map((program) => supervise(program, options));
      running.push(() => Promise.all(supervised.map((each) => each.stop())));
    }
    await Promise.all(plan.urls.map(untilReady));
    const operatorToken = settings.BACKLOT_OPERATOR_TOKEN ?? secrets.operatorToken;
    return { ...seeded, urls: plan.urls, operatorToken, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
