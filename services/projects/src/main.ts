import { connectRedis, createRedisCounters } from '@backlot/counters/redis';
import { readSettings, redisSetting, runService } from '@backlot/process';
import { z } from 'zod';
import { parseConfig } from './config.ts';
import { createProjectsService } from './service.ts';

const { REDIS_URL: redisUrl } = readSettings(z.object({ REDIS_URL: redisSetting }), process.env);

await runService({
  name: 'projects',
  port: 8087,
  entry: import.meta.url,
  create(parts) {
    const onError = (err: Error) => parts.log.warn({ err }, 'Redis');
    const counters = createRedisCounters(connectRedis(redisUrl, { onError }), {
      onLoss: () =>
        void service.reconcile().catch((err: unknown) => parts.log.warn({ err }, 'the books')),
    });
    const config = parseConfig(process.env);
    const service = createProjectsService({ ...parts, counters, config });
    return { ...service, close: () => counters.close() };
  },
});
