import { fileURLToPath } from 'node:url';
import { createInProcessBus } from '@backlot/bus';
import { createDatabase, migrate } from '@backlot/database';
import { serve } from '@backlot/http';
import { identitySecret } from '@backlot/identity';
import { createLogger } from '@backlot/telemetry';
import { parseConfig } from './config.ts';
import { createRecordsService } from './service.ts';

const config = parseConfig(process.env);
const log = createLogger({ service: 'records', level: config.logLevel });
const place = { url: config.databaseUrl, schema: 'records' };
await migrate({ ...place, directory: fileURLToPath(new URL('../migrations', import.meta.url)) });
const database = createDatabase({
  ...place,
  onConnectionLost: (error) => log.warn({ err: error }, 'lost a connection to PostgreSQL'),
});
const bus = createInProcessBus({
  onDead: (event, queue) => log.error({ event, queue }, 'gave an event up'),
});
const service = createRecordsService({
  database,
  bus,
  identitySecret: identitySecret(config.identitySecret),
  now: Date.now,
  log,
  config,
  checkResponses: false,
});
await service.start();
const listening = await serve(service.app, { port: config.port });
log.info({ port: listening.port }, 'listening');

const stop = async () => {
  await listening.stop();
  await service.stop();
  await bus.close();
  await database.close();
};
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop());
