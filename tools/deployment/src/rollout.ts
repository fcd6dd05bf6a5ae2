/**
 * Owns: the order in which docker compose exchanges containers, so that calls go on meanwhile.
 * Refuses: to build images, to know what has changed (every process is exchanged), and to make a server
 * anew: calls would fail meanwhile.
 */
import { serviceNames } from '@backlot/contract';
import type { Docker } from './docker.ts';
import { setUsers } from './running-users.ts';

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

/** Whether compose would make it anew. */
const isChanged = async (docker: Docker, server: string): Promise<boolean> => {
  const wanted = await docker(['compose', 'config', '--hash', server]);
  const id = (await docker(['compose', 'ps', '--quiet', server])).trim();
  const label = '{{index .Config.Labels "com.docker.compose.config-hash"}}';
  const running = await docker(['inspect', '--format', label, id]);
  return wanted.trim().split(' ').at(-1) !== running.trim();
};

/**
 * Servers that do not run yet, the users of Redis and RabbitMQ, the migration, each service with the new process beside the old
 * one, then one gateway after the other: their ports are taken, so what stands in front has to use both.
 * @throws Error at the first step that fails; what is exchanged by then serves
 */
export const rollOut = async (docker: Docker, print: (line: string) => void): Promise<void> => {
  print('servers');
  await docker([...up, '--no-recreate', ...servers]);
  await setUsers(docker);
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
  const changed: string[] = [];
  for (const server of servers) if (await isChanged(docker, server)) changed.push(server);
  if (changed.length > 0)
    print(
      `${changed.join(', ')}: runs with other settings than .env and docker-compose.yml say, at most with other passwords of before. When calls may fail for some seconds: docker ${up.join(' ')} ${changed.join(' ')}`,
    );
};
