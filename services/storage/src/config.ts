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
  /** Uploads under way at a time in this process, half of them of one project; a further one is refused with 503. */
  maxUploads: number;
  /** An upload that sends less than 16 KiB in so long is ended. */
  uploadIdleMs: number;
  /** Readers are sent to the store itself, where it can be reached. */
  redirects: boolean;
  images: {
    /** Of a source. */
    maxPixels: number;
    /** At a time in this process. */
    concurrency: number;
  };
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
  BACKLOT_FILES_REDIRECT: z.stringbool().default(false),
  BACKLOT_IMAGE_MAX_PIXELS: z.coerce.number().int().min(1).max(1_000_000_000).default(50_000_000),
  BACKLOT_IMAGE_CONCURRENCY: z.coerce.number().int().min(1).max(64).default(2),
  BACKLOT_UPLOAD_IDLE_SECONDS: z.coerce.number().min(1).max(300).default(20),
});

const filesystem = z.object({ BACKLOT_STORAGE_DIR: z.string().min(1) });

const s3 = z
  .object({
    BACKLOT_S3_BUCKET: z.string().min(3).max(63),
    BACKLOT_S3_REGION: z.string().min(1).default('us-east-1'),
    BACKLOT_S3_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
    BACKLOT_S3_PATH_STYLE: z.stringbool().default(false),
    BACKLOT_S3_CHECKSUMS: z.enum(['WHEN_SUPPORTED', 'WHEN_REQUIRED']).default('WHEN_SUPPORTED'),
    BACKLOT_S3_ENCRYPTION: z.enum(['AES256', 'aws:kms', 'aws:kms:dsse']).optional(),
    BACKLOT_S3_KMS_KEY_ID: z.string().min(1).optional(),
    BACKLOT_S3_ACCESS_KEY_ID: z.string().min(1).optional(),
    BACKLOT_S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
    BACKLOT_S3_BUFFER_MIB: z.coerce.number().int().min(10).max(65_536).default(40),
  })
  .refine(
    (value) =>
      (value.BACKLOT_S3_ACCESS_KEY_ID === undefined) ===
      (value.BACKLOT_S3_SECRET_ACCESS_KEY === undefined),
    { path: ['BACKLOT_S3_SECRET_ACCESS_KEY'], message: 'comes with BACKLOT_S3_ACCESS_KEY_ID' },
  );

export interface S3Config {
  kind: 's3';
  bucket: string;
  region: string;
  /** AWS without it. */
  endpoint: string | undefined;
  forcePathStyle: boolean;
  checksums: 'WHEN_SUPPORTED' | 'WHEN_REQUIRED';
  /** The bucket's own without it. */
  encryption: 'AES256' | 'aws:kms' | 'aws:kms:dsse' | undefined;
  kmsKeyId: string | undefined;
  /** The standard chain (environment, instance role …) without them. */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
  /** What all uploads of the process may hold in memory together. */
  bufferBytes: number;
}

export type BlobStoreConfig = { kind: 'filesystem'; directory: string } | S3Config;

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
    redirects: settings.BACKLOT_FILES_REDIRECT,
    images: {
      maxPixels: settings.BACKLOT_IMAGE_MAX_PIXELS,
      concurrency: settings.BACKLOT_IMAGE_CONCURRENCY,
    },
  };
};

const s3ConfigOf = (settings: z.output<typeof s3>): S3Config => {
  const { BACKLOT_S3_ACCESS_KEY_ID: accessKeyId, BACKLOT_S3_SECRET_ACCESS_KEY: secretAccessKey } =
    settings;
  return {
    kind: 's3',
    bucket: settings.BACKLOT_S3_BUCKET,
    region: settings.BACKLOT_S3_REGION,
    endpoint: settings.BACKLOT_S3_ENDPOINT,
    forcePathStyle: settings.BACKLOT_S3_PATH_STYLE,
    checksums: settings.BACKLOT_S3_CHECKSUMS,
    encryption: settings.BACKLOT_S3_ENCRYPTION,
    kmsKeyId: settings.BACKLOT_S3_KMS_KEY_ID,
    credentials:
      accessKeyId !== undefined && secretAccessKey !== undefined
        ? { accessKeyId, secretAccessKey }
        : undefined,
    bufferBytes: settings.BACKLOT_S3_BUFFER_MIB * MIB,
  };
};

/** Where files lie: in one place. @throws Error that names each wrong setting */
export const parseBlobStoreConfig = (env: Environment): BlobStoreConfig => {
  if (!env.BACKLOT_S3_BUCKET)
    return { kind: 'filesystem', directory: readSettings(filesystem, env).BACKLOT_STORAGE_DIR };
  if (env.BACKLOT_STORAGE_DIR)
    throw new Error('Set BACKLOT_STORAGE_DIR or BACKLOT_S3_BUCKET, not both.');
  return s3ConfigOf(readSettings(s3, env));
};
