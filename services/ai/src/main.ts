import { runService } from '@backlot/process';
import { parseConfig } from './config.ts';
import { createJsonSchemas } from './json-schema/json-schemas.ts';
import { createModelProvider } from './model-provider/create-model-provider.ts';
import { createAiService } from './service.ts';

await runService({
  name: 'ai',
  port: 8083,
  entry: import.meta.url,
  create(parts) {
    const schemas = createJsonSchemas();
    const config = parseConfig(process.env);
    const provider = createModelProvider(config, schemas, parts.log);
    const service = createAiService({ ...parts, config, schemas, provider });
    return { ...service, close: () => schemas.close() };
  },
});
