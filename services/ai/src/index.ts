import { runnable } from '@backlot/service';
import { createJsonSchemas } from './json-schema/json-schemas.ts';
import { createModelProvider } from './model-provider/create-model-provider.ts';
import { aiService } from './service.ts';

/** The service with the model that its settings name. */
export const ai = runnable(aiService, async ({ config, log }) => {
  const schemas = createJsonSchemas();
  return {
    schemas,
    provider: await createModelProvider(config, schemas, log),
    close: () => schemas.close(),
  };
});
