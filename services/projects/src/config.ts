import { type ClassLimits, defaultLimits, limitClasses } from '@backlot/contract';
import { z } from 'zod';

/** What the service itself needs; the all-in-one builds it too. */
export interface ProjectsConfig {
  /** Origin (and path prefix) under which the gateway is reached from outside, without a trailing slash. */
  publicUrl: string;
  /** Deleted projects count until they are erased. */
  maxProjectsPerOwner: number;
  maxKeysPerProject: number;
  /** How long a deleted project can be restored. */
  restoreDays: number;
  /** Calls a minute where nobody set anything else. */
  defaultLimits: ClassLimits;
  /** Granted to each owner every month; 0: none. */
  monthlyCredits: number;
  /** How often the books of all owners are compared. */
  reconcileSeconds: number;
}

const callsAMinute = z.number().int().min(0).max(1_000_000);
const limitsText = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue('must be JSON');
      return z.NEVER;
    }
  })
  .pipe(
    z.partialRecord(
      z.enum(limitClasses),
      z.strictObject({ perCaller: callsAMinute.optional(), perProject: callsAMinute.optional() }),
    ),
  )
  .transform(
    (changes) =>
      Object.fromEntries(
        limitClasses.map((each) => [
          each,
          {
            perCaller: changes[each]?.perCaller ?? defaultLimits[each].perCaller,
            perProject: changes[each]?.perProject ?? defaultLimits[each].perProject,
          },
        ]),
      ) as ClassLimits,
  );

const environment = z.object({
  BACKLOT_PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ''))
    .default('http://localhost:8080'),
  BACKLOT_MAX_PROJECTS_PER_OWNER: z.coerce.number().int().min(0).default(1000),
  BACKLOT_MAX_KEYS_PER_PROJECT: z.coerce.number().int().min(0).default(100),
  BACKLOT_RESTORE_DAYS: z.coerce.number().int().min(0).max(3650).default(30),
  BACKLOT_MONTHLY_CREDITS: z.coerce.number().int().min(0).max(1_000_000_000).default(1000),
  BACKLOT_RECONCILE_SECONDS: z.coerce.number().int().min(1).max(86_400).default(300),
  BACKLOT_DEFAULT_LIMITS: limitsText.default(defaultLimits),
});

/** @throws ZodError that names the settings which are missing or wrong. */
export const parseConfig = (env: NodeJS.ProcessEnv): ProjectsConfig => {
  const settings = environment.parse(env);
  return {
    publicUrl: settings.BACKLOT_PUBLIC_URL,
    maxProjectsPerOwner: settings.BACKLOT_MAX_PROJECTS_PER_OWNER,
    maxKeysPerProject: settings.BACKLOT_MAX_KEYS_PER_PROJECT,
    restoreDays: settings.BACKLOT_RESTORE_DAYS,
    monthlyCredits: settings.BACKLOT_MONTHLY_CREDITS,
    reconcileSeconds: settings.BACKLOT_RECONCILE_SECONDS,
    defaultLimits: settings.BACKLOT_DEFAULT_LIMITS,
  };
};
