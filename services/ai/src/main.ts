import { fileURLToPath } from 'node:url';
import { createInProcessBus } from '@backlot/bus';
import { createDatabase, migrate } from '@backlot/database';
import { serve } from '@backlot/http';
import { identitySecret } from '@backlot/identity';
import { createLogger } from '@backlot/telemetry';
import { parseConfig } from './config.ts';
import { createJsonSchemas } from './json-schema/json-schemas.ts';
import { createDemoProvider } from './model-provider/demo.ts';
import { createAiService } from './service.ts';

const config = parseConfig(process.env);
const log = createLogger({ service: 'ai', level: config.logLevel });
const place = { url: config.databaseUrl, schema: 'ai' };
await migrate({ ...place, directory: fileURLToPath(new URL('../migrations', import.meta.url)) });
const database = createDatabase({
  ...place,
  onConnectionLost: (err) => log.warn({ err }, 'lost a connection to PostgreSQL'),
});
const bus = createInProcessBus({
  onDead: (event, queue) => log.error({ event, queue }, 'gave an event up'),
});
const schemas = createJsonSchemas();
const service = createAiService({
  ...{ database, bus, log, config, schemas, provider: createDemoProvider(schemas) },
  identitySecret: identitySecret(config.identitySecret),
  now: Date.now,
  checkResponses: false,
});
await service.start();
const listening = await serve(service.app, { port: config.port });
log.info({ port: listening.port }, 'listening');

const stop = async () => {
  await listening.stop();
  await service.stop();
  for (const each of [schemas, bus, database]) await each.close();
};
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop());
