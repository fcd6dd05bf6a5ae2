import type { Logger } from '@backlot/telemetry';
import type { AiConfig } from '../config.ts';
import type { JsonSchemas } from '../json-schema/json-schemas.ts';
import type { ModelProvider } from './model-provider.ts';

/** The model that the settings ask for. Loads no other: a client takes memory. */
export const createModelProvider = async (
  { provider, answerTimeoutMs }: AiConfig,
  schemas: JsonSchemas,
  log: Logger,
): Promise<ModelProvider> => {
  switch (provider.kind) {
    case 'demo': {
      const { createDemoProvider } = await import('./demo.ts');
      return createDemoProvider(schemas);
    }
    case 'openai': {
      const { createOpenaiProvider } = await import('./openai.ts');
      return createOpenaiProvider({
        endpoints: provider.endpoints,
        firstPieceTimeoutMs: answerTimeoutMs / provider.endpoints.length,
        onFailover: (err) => log.warn({ err }, 'model endpoint failed; trying the next one'),
      });
    }
  }
};
