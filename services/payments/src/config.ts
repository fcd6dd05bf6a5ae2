import { originSetting, readSettings } from '@backlot/process';
import { masterKeysSetting } from '@backlot/sealing';
import { z } from 'zod';

/** How Stripe is reached; whose account it is each project says itself. */
export interface StripeSettings {
  /** Origin of the API. */
  url: string;
  /** For one try; a call that fails is tried again `retries` times. */
  timeoutMs: number;
  retries: number;
}

/** What the service itself needs; the all-in-one builds it too. */
export interface PaymentsConfig {
  /** Where the gateway is reached from outside, without a slash at the end. */
  publicUrl: string;
  /** Seal projects' keys; the first one is current. */
  masterKeys: Buffer[];
  stripe: StripeSettings;
}

const environment = z.object({
  BACKLOT_PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .default('http://localhost:8080')
    .transform((value) => value.replace(/\/+$/, '')),
  BACKLOT_SECRETS_KEYS: masterKeysSetting,
  BACKLOT_STRIPE_URL: originSetting.default('https://api.stripe.com'),
  /** With its retries it must end within the 30 s of the gateway. */
  BACKLOT_STRIPE_TIMEOUT_SECONDS: z.coerce.number().min(1).max(10).default(8),
  BACKLOT_STRIPE_RETRIES: z.coerce.number().int().min(0).max(1).default(1),
});

/** @throws Error that names each wrong setting */
export const parseConfig = (env: Readonly<Record<string, string | undefined>>): PaymentsConfig => {
  const settings = readSettings(environment, env);
  return {
    publicUrl: settings.BACKLOT_PUBLIC_URL,
    masterKeys: settings.BACKLOT_SECRETS_KEYS,
    stripe: {
      url: settings.BACKLOT_STRIPE_URL,
      timeoutMs: settings.BACKLOT_STRIPE_TIMEOUT_SECONDS * 1000,
      retries: settings.BACKLOT_STRIPE_RETRIES,
    },
  };
};

const origins = z.object({
  BACKLOT_PROJECTS_ORIGIN: originSetting,
});

/** The services that a process of its own asks. @throws Error that names each wrong setting */
export const parseOrigins = (env: NodeJS.ProcessEnv) => {
  const settings = readSettings(origins, env);
  return { projects: settings.BACKLOT_PROJECTS_ORIGIN };
};
