import type { Cluster, Redis } from 'ioredis';
import { CountersUnavailable } from './counters.ts';

/** Clients whose user or password their server has refused, since they were ready last. */
const refusedClients = new WeakSet<object>();

/** @param onRefusal told when Redis begins to refuse the user or the password, and when it takes them again */
export const watchRefusal = (client: Redis, onRefusal: (isRefused: boolean) => void): void => {
  client.on('error', ({ message }: Error) => {
    if (!/WRONGPASS|NOAUTH/.test(message) || refusedClients.has(client)) return;
    refusedClients.add(client);
    onRefusal(true);
  });
  client.on('ready', () => {
    if (refusedClients.delete(client)) onRefusal(false);
  });
};

/** How a client of connectRedis stands with its server, for who tells of readiness. */
export const findRedis = (client: Redis) => ({
  name: 'redis',
  state: client.status === 'ready' ? ('works' as const) : ('degraded' as const),
  ...(refusedClients.has(client) && { reason: 'refuses_user' }),
});

export const redisUnavailable = (client: Redis | Cluster, cause: unknown): CountersUnavailable => {
  const isRefused = refusedClients.has(client);
  const message = isRefused ? 'Redis refuses the password.' : 'Redis does not answer.';
  return new CountersUnavailable(message, { cause, isRefused });
};
