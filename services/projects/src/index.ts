import { connectRedis, createRedisCounters, findRedis } from '@backlot/counters/redis';
import { redisSteps, reportRefusal, runnable } from '@backlot/service';
import { countRepeats } from '@backlot/telemetry';
import { projectsService } from './service.ts';

/** The service with counters in Redis, which it shares with the gateways. */
export const projects = runnable(projectsService, ({ config, log, tracer, service }) => {
  if (config.redisUrl === undefined) throw new Error('Wrong settings:\n  REDIS_URL: is needed');
  const onError = countRepeats((failure) => log.warn(failure, 'Redis'));
  const redis = connectRedis(config.redisUrl, {
    onError,
    onRefusal: reportRefusal(log, 'Redis', 'REDIS_URL'),
    step: redisSteps(tracer),
  });
  const counters = createRedisCounters(redis, {
    onLoss: () =>
      void service()
        .reconcile()
        .catch((err: unknown) => log.warn({ err }, 'reconciliation failed; it runs again')),
  });
  return { counters, findCounters: () => findRedis(redis), close: () => counters.close() };
});
