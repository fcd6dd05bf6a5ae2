import { runService } from '@backlot/process';
import { parseConfig } from './config.ts';
import { createJsonSchemas } from './json-schema/json-schemas.ts';
import { createDemoProvider } from './model-provider/demo.ts';
import { createAiService } from './service.ts';

await runService({
  name: 'ai',
  port: 8083,
  entry: import.meta.url,
  create(parts) {
    const schemas = createJsonSchemas();
    const provider = createDemoProvider(schemas);
    const config = parseConfig(process.env);
    const service = createAiService({ ...parts, config, schemas, provider });
    return { ...service, close: () => schemas.close() };
  },
});
