export { maxJsonDepth, toJsonSchema } from './ai-json.ts';
export * from './ai-price.ts';
export * from './generate-text.ts';
export * from './openai-secret.ts';
export * from './prompts.ts';
