/**
 * Owns: to have Redis and RabbitMQ take, while they run in docker compose, the users that .env says.
 * Refuses: the operator's password in Redis, by which it signs in: another one needs Redis made anew.
 */
import type { Docker } from './docker.ts';

/** Inline commands of Redis. Connections stay, whatever their password was. */
const redisCommands = (before: string, wanted: string): string => {
  const [, password] = /^user operator on >(\S+)/m.exec(before) ?? [];
  if (password === undefined) throw new Error('Redis has no user operator.');
  const users = wanted
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('user operator '))
    .map((line) => line.replace(/^user (\S+)/, 'ACL SETUSER $1 reset'));
  return [`AUTH operator ${password}`, ...users, 'ACL SAVE', ''].join('\n');
};

interface Rendered {
  services: Record<string, { environment: Record<string, string> }>;
}

/**
 * Passwords and rights at once, and after a restart too; open connections stay.
 * @throws Error where one of them refuses
 */
export const setUsers = async (docker: Docker): Promise<void> => {
  const { services } = JSON.parse(
    await docker(['compose', 'config', '--format', 'json']),
  ) as Rendered;
  // Written so that compose would read it again.
  const text = (server: string, name: string) =>
    (services[server]?.environment[name] ?? '').replaceAll('$$', '$');
  const exec = ['compose', 'exec', '-T'];
  const before = await docker([...exec, 'redis', 'printenv', 'USERS']);
  const commands = redisCommands(before, text('redis', 'USERS'));
  const answers = await docker([...exec, 'redis', 'redis-cli'], commands);
  const refused = answers.split('\n').filter((line) => line !== '' && line !== 'OK');
  if (refused.length > 0) throw new Error(`Redis: ${refused.join(' ')}`);
  await docker(
    [...exec, 'rabbitmq', 'rabbitmqctl', 'import_definitions'],
    text('rabbitmq', 'DEFINITIONS'),
  );
};
