import { join } from 'node:path';
import { loadSecrets, planStack, prepareDatabase, startServers } from '@backlot/all-in-one';
import { operatorToken } from '../prepare.ts';
import { type Program, reachable, startProgram } from '../program.ts';

export interface Stack {
  databaseUrl: string;
  /** Of the gateway. */
  origin: string;
  start(name: string): Promise<Program>;
}

const largeQuotaBytes = 1024 ** 4;

const shared = {
  BACKLOT_OPERATOR_TOKEN: operatorToken,
  BACKLOT_STORAGE_QUOTA_BYTES: String(largeQuotaBytes),
  BACKLOT_LOG_LEVEL: 'error',
};

/**
 * Servers for the processes of a stack, which are started as they are needed. Answers the stack for
 * settings of the store; without any, files lie in `folder`.
 */
export const prepareStack = async (
  port: number,
  folder: string,
  running: (() => Promise<unknown>)[],
): Promise<(settings: Record<string, string>) => Stack> => {
  const none = { databaseUrl: undefined, redisUrl: undefined, amqpUrl: undefined };
  const servers = await startServers(none, folder, running);
  const databaseUrls = await prepareDatabase(servers.databaseUrl, console.warn);
  const secrets = await loadSecrets(folder);
  return (settings) => {
    const given = { ...shared, ...settings };
    const plan = planStack(
      port,
      { ...servers, databaseUrls },
      secrets,
      given,
      join(folder, 'files'),
    );
    return {
      databaseUrl: servers.databaseUrl,
      origin: `http://localhost:${port}`,
      async start(name) {
        const planned = [...plan.services, ...plan.gateways].find(
          (program) => program.name === name,
        );
        if (!planned) throw new Error(`There is no ${name}.`);
        const program = startProgram(planned.entry, [], { ...planned.env, ...given });
        running.push(() => program.stop());
        await reachable(`http://localhost:${planned.env.PORT}/healthz`, 200);
        return program;
      },
    };
  };
};
