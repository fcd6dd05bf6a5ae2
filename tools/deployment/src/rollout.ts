/**
 * Owns: the order in which docker compose exchanges containers, so that calls go on meanwhile.
 * Refuses: to build images, and to know what has changed: every process is exchanged.
 */
import { serviceNames } from '@backlot/contract';

/** Runs docker with these arguments. @returns what it printed @throws Error where it failed */
export type Docker = (args: readonly string[]) => Promise<string>;

const gateways = ['gateway', 'gateway-2'];
const servers = ['postgres', 'redis', 'rabbitmq'];
const up = ['compose', 'up', '--detach', '--wait', '--no-deps'];

/** The new container first: the old one finishes its calls while new calls go to the other. */
const exchange = async (docker: Docker, service: string): Promise<void> => {
  const listed = await docker(['compose', 'ps', '--quiet', service]);
  const old = listed.split('\n').filter((id) => id !== '');
  await docker([...up, '--no-recreate', '--scale', `${service}=${old.length + 1}`, service]);
  for (const id of old) {
    await docker(['stop', id]);
    await docker(['rm', id]);
  }
};

/**
 * Servers where their settings changed, the migration, each service with the new process beside the old
 * one, then one gateway after the other: their ports are taken, so what stands in front has to use both.
 * @throws Error at the first step that fails; what is exchanged by then serves
 */
export const rollOut = async (docker: Docker, print: (line: string) => void): Promise<void> => {
  print('servers');
  await docker([...up, ...servers]);
  print('migrate');
  await docker(['compose', 'run', '--rm', '--no-deps', 'migrate']);
  for (const service of serviceNames) {
    print(service);
    await exchange(docker, service);
  }
  for (const gateway of gateways) {
    print(gateway);
    await docker([...up, '--force-recreate', gateway]);
  }
};
