import { readSettings } from '@backlot/process';
import { masterKeysSetting } from '@backlot/sealing';
import { z } from 'zod';
import type { EndpointConfig } from './model-provider/openai-endpoint.ts';

/** What the service itself needs; the all-in-one builds it too. */
export interface AiConfig {
  /** How long a call may wait for the model, a repair included. */
  answerTimeoutMs: number;
  /** How many calls may wait for the model at a time. */
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

const parseJson = (text: string, context: z.RefinementCtx): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'must be JSON' });
    return z.NEVER;
  }
};

const environment = z
  .object({
    /** Contract section 5; the gateway waits 75 s. */
    BACKLOT_AI_TIMEOUT_SECONDS: z.coerce.number().min(1).max(70).default(60),
    BACKLOT_AI_CALLS: z.coerce.number().int().min(1).max(100_000).default(2000),
    BACKLOT_AI_MODELS: z
      .string()
      .default('')
      .transform((text) => text.split(',').map((each) => each.trim()))
      .transform((names) => names.filter((each) => each !== '')),
    BACKLOT_SECRETS_KEYS: masterKeysSetting,
    BACKLOT_AI_PROVIDER: z.enum(['demo', 'openai']).default('demo'),
    BACKLOT_AI_ENDPOINTS: z
      .string()
      .transform(parseJson)
      .pipe(z.array(endpoint).min(1).max(10))
      .optional(),
  })
  .refine(
    ({ BACKLOT_AI_PROVIDER: provider, BACKLOT_AI_ENDPOINTS: endpoints }) =>
      (provider === 'openai') === (endpoints !== undefined),
    { path: ['BACKLOT_AI_ENDPOINTS'], message: 'belongs to BACKLOT_AI_PROVIDER=openai' },
  );

/** @throws Error that names each wrong setting */
export const parseConfig = (env: Readonly<Record<string, string | undefined>>): AiConfig => {
  const settings = readSettings(environment, env);
  const endpoints = settings.BACKLOT_AI_ENDPOINTS;
  return {
    answerTimeoutMs: settings.BACKLOT_AI_TIMEOUT_SECONDS * 1000,
    maxCalls: settings.BACKLOT_AI_CALLS,
    models: settings.BACKLOT_AI_MODELS,
    masterKeys: settings.BACKLOT_SECRETS_KEYS,
    provider: endpoints ? { kind: 'openai', endpoints } : { kind: 'demo' },
  };
};
