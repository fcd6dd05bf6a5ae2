export { type AiConfig, parseConfig } from './config.ts';
export { createJsonSchemas, type JsonSchemas } from './json-schema/json-schemas.ts';
export { createModelProvider } from './model-provider/create-model-provider.ts';
export type { ModelProvider } from './model-provider/model-provider.ts';
export { type AiDeps, type AiService, createAiService } from './service.ts';
