import type { Logger } from '@backlot/telemetry';
import type { AiConfig } from '../config.ts';
import type { JsonSchemas } from '../json-schema/json-schemas.ts';
import { createDemoProvider } from './demo.ts';
import type { ModelProvider } from './model-provider.ts';
import { createOpenaiProvider } from './openai.ts';

/** The model that the settings ask for. */
export const createModelProvider = (
  { provider, answerTimeoutMs }: AiConfig,
  schemas: JsonSchemas,
  log: Logger,
): ModelProvider => {
  switch (provider.kind) {
    case 'demo':
      return createDemoProvider(schemas);
    case 'openai':
      return createOpenaiProvider({
        endpoints: provider.endpoints,
        firstPieceTimeoutMs: answerTimeoutMs / provider.endpoints.length,
        onFailover: (err) => log.warn({ err }, 'model endpoint failed; trying the next one'),
      });
  }
};
