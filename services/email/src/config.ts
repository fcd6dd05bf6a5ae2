import { originSetting, readSettings } from '@backlot/process';
import { z } from 'zod';

/** What the service itself needs; the all-in-one builds it too. */
export interface EmailConfig {
  /** Where the gateway is reached from outside, without a slash at the end. */
  publicUrl: string;
}

const environment = z.object({
  BACKLOT_PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .default('http://localhost:8080')
    .transform((value) => value.replace(/\/+$/, '')),
});

/** @throws Error that names each wrong setting */
export const parseConfig = (env: Readonly<Record<string, string | undefined>>): EmailConfig => {
  const settings = readSettings(environment, env);
  return { publicUrl: settings.BACKLOT_PUBLIC_URL };
};

const origins = z.object({
  BACKLOT_AUTH_ORIGIN: originSetting,
  BACKLOT_PROJECTS_ORIGIN: originSetting,
});

/** The services that a process of its own asks. @throws Error that names each wrong setting */
export const parseOrigins = (env: NodeJS.ProcessEnv) => {
  const settings = readSettings(origins, env);
  return { auth: settings.BACKLOT_AUTH_ORIGIN, projects: settings.BACKLOT_PROJECTS_ORIGIN };
};
