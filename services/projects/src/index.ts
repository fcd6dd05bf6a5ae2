import { connectRedis, createRedisCounters } from '@backlot/counters/redis';
import { runnable } from '@backlot/service';
import { countRepeats } from '@backlot/telemetry';
import { projectsService } from './service.ts';

/** The service with counters in Redis, which it shares with the gateways. */
export const projects = runnable(projectsService, ({ config, log, service }) => {
  if (config.redisUrl === undefined) throw new Error('Wrong settings:\n  REDIS_URL: is needed');
  const onError = countRepeats((failure) => log.warn(failure, 'Redis'));
  const redis = connectRedis(config.redisUrl, { onError });
  const counters = createRedisCounters(redis, {
    onLoss: () =>
      void service()
        .reconcile()
        .catch((err: unknown) => log.warn({ err }, 'reconciliation failed; it runs again')),
  });
  return { counters, close: () => counters.close() };
});
