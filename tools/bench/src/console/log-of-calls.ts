import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  loadSecrets,
  planStack,
  prepareDatabase,
  seedDatabase,
  startServers,
} from '@backlot/all-in-one';
import { compare } from '../compare.ts';
import { operatorToken, prepare } from '../prepare.ts';
import { type Program, reachable, startProgram } from '../program.ts';

const port = 18_420;
const preload = fileURLToPath(new URL('./without-call-log.ts', import.meta.url));

/** A get through two gateways in turn, of which one notes its calls and one does not. */
export const benchCallLog = async (folder: string): Promise<void> => {
  const running: (() => Promise<unknown>)[] = [];
  try {
    const none = { databaseUrl: undefined, redisUrl: undefined, amqpUrl: undefined };
    const servers = await startServers(none, folder, running);
    const databaseUrls = await prepareDatabase(servers.databaseUrl, console.warn);
    const secrets = await loadSecrets(folder);
    await seedDatabase(databaseUrls, {}, secrets);
    const plan = planStack(
      port,
      { ...servers, databaseUrls },
      secrets,
      { BACKLOT_OPERATOR_TOKEN: operatorToken },
      join(folder, 'files'),
    );
    const start = (
      { entry, env }: { entry: string; env: Record<string, string> },
      more: Record<string, string> = {},
    ): Program => {
      const program = startProgram(entry, [], { ...env, BACKLOT_LOG_LEVEL: 'error', ...more });
      running.push(() => program.stop());
      return program;
    };
    for (const service of plan.services) start(service);
    const [first, second] = plan.gateways;
    const [firstUrl, secondUrl] = plan.urls;
    if (!first || !second || !firstUrl || !secondUrl) throw new Error('A stack has two gateways.');
    const one = { gateway: first, url: firstUrl };
    const other = { gateway: second, url: secondUrl };
    // Each of them in both parts: which process starts first makes a difference too.
    for (const [noting, silent] of [
      [one, other],
      [other, one],
    ] as const) {
      const programs = [
        start(noting.gateway),
        start(silent.gateway, { NODE_OPTIONS: `--import=${preload}` }),
      ] as const;
      for (const { url } of [noting, silent]) await reachable(`${url}/readyz`, 200);
      const { token, id } = await prepare(noting.url, servers.databaseUrl);
      const request = (url: string) => ({
        url: `${url}/api/runtime/demo/db/bench/${id}`,
        headers: { authorization: `Bearer ${token}` },
        connections: 32,
      });
      const [withLog, without] = programs;
      await compare(
        'get',
        0.97,
        { name: 'with the log of calls', pids: [withLog.pid], request: request(noting.url) },
        { name: 'without it', pids: [without.pid], request: request(silent.url) },
        { rounds: 8, roundSeconds: 3 },
      );
      for (const program of programs) await program.stop();
    }
  } finally {
    for (const stop of running.reverse()) await stop();
  }
};
