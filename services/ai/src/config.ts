import { masterKeysSetting } from '@backlot/sealing';
import { defineConfig, jsonSetting } from '@backlot/service';
import { z } from 'zod';
import type { EndpointConfig } from './model-provider/openai-endpoint.ts';

export interface AiConfig {
  /** How long a call may wait for the model, a repair included. */
  answerTimeoutMs: number;
  /** How many calls may wait for the model at a time: of an owner a third, of an address a sixth. */
  maxCalls: number;
  /** What owners may choose from; none: whatever the provider has. */
  models: string[];
  /** Seal projects' keys; the first one is current. */
  masterKeys: Buffer[];
  /** Which model answers. */
  provider: ProviderConfig;
}

export type ProviderConfig =
  | { kind: 'demo' }
  | {
      kind: 'openai';
      /** In order of preference. */
      endpoints: EndpointConfig[];
    };

const endpoint = z.strictObject({
  baseUrl: z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, '')),
  apiKey: z.string().min(1).optional(),
  model: z.string().min(1).max(200),
});

const settings = z
  .object({
    /** The gateway waits 75 s. */
    BACKLOT_AI_TIMEOUT_SECONDS: z.coerce.number().min(1).max(70).default(60),
    BACKLOT_AI_CALLS: z.coerce.number().int().min(1).max(100_000).default(2000),
    BACKLOT_AI_MODELS: z
      .string()
      .default('')
      .transform((text) => text.split(',').map((name) => name.trim()))
      .transform((names) => names.filter((name) => name !== '')),
    BACKLOT_SECRETS_KEYS: masterKeysSetting,
    BACKLOT_AI_PROVIDER: z.enum(['demo', 'openai']).default('demo'),
    BACKLOT_AI_ENDPOINTS: jsonSetting.pipe(z.array(endpoint).min(1).max(10)).optional(),
  })
  .refine(
    ({ BACKLOT_AI_PROVIDER: provider, BACKLOT_AI_ENDPOINTS: endpoints }) =>
      (provider === 'openai') === (endpoints !== undefined),
    { path: ['BACKLOT_AI_ENDPOINTS'], message: 'belongs to BACKLOT_AI_PROVIDER=openai' },
  );

export const aiConfig = defineConfig(
  settings,
  (values): AiConfig => ({
    answerTimeoutMs: values.BACKLOT_AI_TIMEOUT_SECONDS * 1000,
    maxCalls: values.BACKLOT_AI_CALLS,
    models: values.BACKLOT_AI_MODELS,
    masterKeys: values.BACKLOT_SECRETS_KEYS,
    provider: values.BACKLOT_AI_ENDPOINTS
      ? { kind: 'openai', endpoints: values.BACKLOT_AI_ENDPOINTS }
      : { kind: 'demo' },
  }),
);
