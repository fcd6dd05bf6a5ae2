import { fileURLToPath } from 'node:url';
import { createInProcessBus } from '@backlot/bus';
import { createDatabase, migrate } from '@backlot/database';
import { serve } from '@backlot/http';
import { identitySecret } from '@backlot/identity';
import { createLogger } from '@backlot/telemetry';
import { readAuthConfig, readProcessConfig } from './config.ts';
import { createAuthService } from './service.ts';

const { port, databaseUrl, identitySecret: secret, logLevel } = readProcessConfig(process.env);
const config = readAuthConfig(process.env);
const log = createLogger({ service: 'auth', level: logLevel });
const schema = 'auth';

await migrate({
  url: databaseUrl,
  schema,
  directory: fileURLToPath(new URL('../migrations', import.meta.url)),
});
const database = createDatabase({
  url: databaseUrl,
  schema,
  onConnectionLost: (err) => log.warn({ err }, 'a database connection was lost'),
});
const bus = createInProcessBus({
  onDead: (event, queue, err) => log.error({ event: event.id, queue, err }, 'dead event'),
});
const service = createAuthService({
  database,
  bus,
  identitySecret: identitySecret(secret),
  now: Date.now,
  log,
  config,
  checkResponses: false,
});
await service.start();
const listening = await serve(service.app, { port });
log.info({ port: listening.port }, 'listening');

const stop = async () => {
  await listening.stop();
  await service.stop();
  await bus.close();
  await database.close();
};
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
