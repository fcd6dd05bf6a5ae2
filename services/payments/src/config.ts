import { originSetting, readSettings } from '@backlot/process';
import { masterKeysSetting } from '@backlot/sealing';
import { z } from 'zod';

/** What the service itself needs; the all-in-one builds it too. */
export interface PaymentsConfig {
  /** Where the gateway is reached from outside, without a slash at the end. */
  publicUrl: string;
  /** Seal projects' keys; the first one is current. */
  masterKeys: Buffer[];
}

const environment = z.object({
  BACKLOT_PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .default('http://localhost:8080')
    .transform((value) => value.replace(/\/+$/, '')),
  BACKLOT_SECRETS_KEYS: masterKeysSetting,
});

/** @throws Error that names each wrong setting */
export const parseConfig = (env: Readonly<Record<string, string | undefined>>): PaymentsConfig => {
  const settings = readSettings(environment, env);
  return { publicUrl: settings.BACKLOT_PUBLIC_URL, masterKeys: settings.BACKLOT_SECRETS_KEYS };
};

const origins = z.object({
  BACKLOT_PROJECTS_ORIGIN: originSetting,
});

/** The services that a process of its own asks. @throws Error that names each wrong setting */
export const parseOrigins = (env: NodeJS.ProcessEnv) => {
  const settings = readSettings(origins, env);
  return { projects: settings.BACKLOT_PROJECTS_ORIGIN };
};
