import {
  type ClassLimits,
  defaultLimits,
  limitClasses,
  type PriceChanges,
  priceChangesSetting,
} from '@backlot/contract';
import { masterKeysSetting } from '@backlot/sealing';
import {
  defineConfig,
  isOwnerVerificationOn,
  jsonSetting,
  ownerVerificationSettings,
  projectHostsSetting,
  publicUrlSetting,
  redisSetting,
} from '@backlot/service';
import { z } from 'zod';

export interface ProjectsConfig {
  /** Origin (and path prefix) under which the gateway is reached from outside, without a trailing slash. */
  publicUrl: string;
  /** Of projects' host names, `.apps.example.com`; undefined where they have none. */
  projectHostSuffix: string | undefined;
  /** Deleted projects count until they are erased. */
  maxProjectsPerOwner: number;
  /** An owner's credits and number of projects are small until their e-mail address is verified. */
  isOwnerVerificationOn: boolean;
  maxKeysPerProject: number;
  /** How long a deleted project can be restored. */
  restoreDays: number;
  /** Calls a minute where nobody set anything else. */
  defaultLimits: ClassLimits;
  redisUrl: string | undefined;
  /** Seal the secrets of webhooks; the first one is current. */
  masterKeys: Buffer[];
  /** Webhooks may lead to this machine: where a developer works. */
  webhooksToLoopback: boolean;
  /** Of one try to tell a webhook's receiver, the name's resolution included. */
  webhookTimeoutMs: number;
  /** Prices that differ from the contract's; for the gateway too. */
  priceChanges: PriceChanges;
  /** Granted to each owner every month; 0: none. */
  monthlyCredits: number;
  /** How often the ledger of all owners is reconciled. */
  reconcileSeconds: number;
  /** Health warns where the last back-up that is known began longer ago; 0: never. */
  backupHours: number;
}

const callsAMinute = z.number().int().min(0).max(1_000_000);
const limitsSetting = jsonSetting
  .pipe(
    z.partialRecord(
      z.enum(limitClasses),
      z.strictObject({ perCaller: callsAMinute.optional(), perProject: callsAMinute.optional() }),
    ),
  )
  .transform(
    (changes) =>
      Object.fromEntries(
        limitClasses.map((name) => [
          name,
          {
            perCaller: changes[name]?.perCaller ?? defaultLimits[name].perCaller,
            perProject: changes[name]?.perProject ?? defaultLimits[name].perProject,
          },
        ]),
      ) as ClassLimits,
  );

const settings = z.object({
  BACKLOT_PUBLIC_URL: publicUrlSetting,
  BACKLOT_PROJECT_HOSTS: projectHostsSetting,
  BACKLOT_MAX_PROJECTS_PER_OWNER: z.coerce.number().int().min(0).default(1000),
  ...ownerVerificationSettings,
  BACKLOT_RESTORE_DAYS: z.coerce.number().int().min(0).max(3650).default(30),
  /** A night, and two hours for it to be made. */
  BACKLOT_BACKUP_HOURS: z.coerce.number().int().min(0).max(8760).default(26),
  BACKLOT_MONTHLY_CREDITS: z.coerce.number().int().min(0).max(1_000_000_000).default(1000),
  /** The all-in-one has counters of its own. */
  REDIS_URL: redisSetting.optional(),
  BACKLOT_SECRETS_KEYS: masterKeysSetting,
  BACKLOT_WEBHOOKS_TO_LOOPBACK: z.enum(['on', 'off']).default('off'),
  BACKLOT_PRICES: priceChangesSetting.default({}),
  BACKLOT_DEFAULT_LIMITS: limitsSetting.default(defaultLimits),
});

export const projectsConfig = defineConfig(
  settings,
  (values): ProjectsConfig => ({
    publicUrl: values.BACKLOT_PUBLIC_URL,
    projectHostSuffix: values.BACKLOT_PROJECT_HOSTS,
    maxProjectsPerOwner: values.BACKLOT_MAX_PROJECTS_PER_OWNER,
    isOwnerVerificationOn: isOwnerVerificationOn(values),
    maxKeysPerProject: 100,
    restoreDays: values.BACKLOT_RESTORE_DAYS,
    monthlyCredits: values.BACKLOT_MONTHLY_CREDITS,
    reconcileSeconds: 300,
    backupHours: values.BACKLOT_BACKUP_HOURS,
    redisUrl: values.REDIS_URL,
    masterKeys: values.BACKLOT_SECRETS_KEYS,
    webhooksToLoopback: values.BACKLOT_WEBHOOKS_TO_LOOPBACK === 'on',
    webhookTimeoutMs: 10_000,
    priceChanges: values.BACKLOT_PRICES,
    defaultLimits: values.BACKLOT_DEFAULT_LIMITS,
  }),
);
