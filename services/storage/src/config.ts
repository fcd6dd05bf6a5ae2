import { readSettings } from '@backlot/process';
import { masterKeysSetting } from '@backlot/sealing';
import { z } from 'zod';

/** What the service itself needs; the all-in-one builds it too. */
export interface StorageConfig {
  /** Where files are reached from outside, without a slash at the end. */
  filesUrl: string;
  /** Secrets that addresses are signed with are derived from these; the first one signs. */
  masterKeys: readonly Buffer[];
  /** What the files of one project may add up to. */
  quotaBytes: number;
  /** Uploads under way at a time in this process; a further one is refused with 503. */
  maxUploads: number;
  /** An upload that sends nothing for so long is ended. */
  uploadIdleMs: number;
}

const MIB = 1024 * 1024;
const baseUrl = z
  .url({ protocol: /^https?$/ })
  .transform((value) => value.replace(/\/+$/, ''))
  .optional();

const environment = z.object({
  BACKLOT_PUBLIC_URL: baseUrl,
  BACKLOT_FILES_URL: baseUrl,
  BACKLOT_SECRETS_KEYS: masterKeysSetting,
  BACKLOT_STORAGE_QUOTA_BYTES: z.coerce
    .number()
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .default(10 * 1024 * MIB),
  BACKLOT_STORAGE_MAX_UPLOADS: z.coerce.number().int().min(1).max(10_000).default(256),
  BACKLOT_UPLOAD_IDLE_SECONDS: z.coerce.number().min(1).max(300).default(20),
});

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws Error that names each wrong setting */
export const parseConfig = (env: Environment): StorageConfig => {
  const settings = readSettings(environment, env);
  return {
    filesUrl: settings.BACKLOT_FILES_URL ?? settings.BACKLOT_PUBLIC_URL ?? 'http://localhost:8080',
    masterKeys: settings.BACKLOT_SECRETS_KEYS,
    quotaBytes: settings.BACKLOT_STORAGE_QUOTA_BYTES,
    maxUploads: settings.BACKLOT_STORAGE_MAX_UPLOADS,
    uploadIdleMs: settings.BACKLOT_UPLOAD_IDLE_SECONDS * 1000,
  };
};
