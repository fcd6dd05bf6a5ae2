import { halfOfCores } from '@backlot/fair-shares';
import { masterKeysSetting } from '@backlot/sealing';
import { baseUrlSetting, defineConfig, publicUrlSetting } from '@backlot/service';
import { z } from 'zod';

export interface StorageConfig {
  /** Where files lie. */
  blobs: BlobStoreConfig;
  /** Where files are reached from outside, without a slash at the end. */
  filesUrl: string;
  /** Secrets that addresses are signed with are derived from these; the first one signs. */
  masterKeys: readonly Buffer[];
  /** What the files of one project may add up to. */
  quotaBytes: number;
  /** Concurrent uploads in this process: an owner has a third at most, an address a sixth. */
  maxUploads: number;
  /** Concurrent downloads, shared likewise. */
  maxDownloads: number;
  /** An upload that sends less than 16 KiB in so long is ended. */
  uploadIdleMs: number;
  /** Redirects readers to the store, where it can be reached. */
  redirects: boolean;
  images: {
    /** Of a source image. */
    maxPixels: number;
    /** Images in work at a time, beside a small one. */
    concurrency: number;
  };
}

const MIB = 1024 * 1024;
const spareReadSockets = 64;

const settings = z
  .object({
    BACKLOT_PUBLIC_URL: publicUrlSetting,
    BACKLOT_FILES_URL: baseUrlSetting.optional(),
    BACKLOT_SECRETS_KEYS: masterKeysSetting,
    BACKLOT_STORAGE_QUOTA_BYTES: z.coerce
      .number()
      .int()
      .min(0)
      .max(Number.MAX_SAFE_INTEGER)
      .default(10 * 1024 * MIB),
    BACKLOT_STORAGE_MAX_UPLOADS: z.coerce.number().int().min(1).max(10_000).default(256),
    BACKLOT_STORAGE_MAX_DOWNLOADS: z.coerce.number().int().min(1).max(10_000).default(512),
    BACKLOT_FILES_REDIRECT: z.stringbool().default(false),
    BACKLOT_IMAGE_CONCURRENCY: z.coerce.number().int().min(1).max(64).default(halfOfCores),
    BACKLOT_STORAGE_DIR: z.string().min(1).optional(),
    BACKLOT_S3_BUCKET: z.string().min(3).max(63).optional(),
    BACKLOT_S3_REGION: z.string().min(1).default('us-east-1'),
    BACKLOT_S3_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
    BACKLOT_S3_PATH_STYLE: z.stringbool().default(false),
    BACKLOT_S3_CHECKSUMS: z.enum(['WHEN_SUPPORTED', 'WHEN_REQUIRED']).default('WHEN_SUPPORTED'),
    BACKLOT_S3_ENCRYPTION: z.enum(['AES256', 'aws:kms', 'aws:kms:dsse']).optional(),
    BACKLOT_S3_KMS_KEY_ID: z.string().min(1).optional(),
    BACKLOT_S3_ACCESS_KEY_ID: z.string().min(1).optional(),
    BACKLOT_S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  })
  .refine(
    (value) =>
      (value.BACKLOT_S3_ACCESS_KEY_ID === undefined) ===
      (value.BACKLOT_S3_SECRET_ACCESS_KEY === undefined),
    { path: ['BACKLOT_S3_SECRET_ACCESS_KEY'], message: 'comes with BACKLOT_S3_ACCESS_KEY_ID' },
  )
  .refine(
    (value) =>
      (value.BACKLOT_STORAGE_DIR === undefined) !== (value.BACKLOT_S3_BUCKET === undefined),
    {
      path: ['BACKLOT_STORAGE_DIR'],
      message: 'Set BACKLOT_STORAGE_DIR or BACKLOT_S3_BUCKET, one of the two',
    },
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
  /** Connections that read objects: one for each download, and some for images and looks at what arrived. */
  readSockets: number;
}

export type BlobStoreConfig = { kind: 'filesystem'; directory: string } | S3Config;

const blobStoreConfig = (values: z.output<typeof settings>): BlobStoreConfig => {
  const {
    BACKLOT_S3_BUCKET: bucket,
    BACKLOT_STORAGE_DIR: directory = '',
    BACKLOT_S3_ACCESS_KEY_ID: accessKeyId,
    BACKLOT_S3_SECRET_ACCESS_KEY: secretAccessKey,
  } = values;
  if (bucket === undefined) return { kind: 'filesystem', directory };
  return {
    kind: 's3',
    bucket,
    region: values.BACKLOT_S3_REGION,
    endpoint: values.BACKLOT_S3_ENDPOINT,
    forcePathStyle: values.BACKLOT_S3_PATH_STYLE,
    checksums: values.BACKLOT_S3_CHECKSUMS,
    encryption: values.BACKLOT_S3_ENCRYPTION,
    kmsKeyId: values.BACKLOT_S3_KMS_KEY_ID,
    credentials:
      accessKeyId !== undefined && secretAccessKey !== undefined
        ? { accessKeyId, secretAccessKey }
        : undefined,
    bufferBytes: 40 * MIB,
    readSockets: values.BACKLOT_STORAGE_MAX_DOWNLOADS + spareReadSockets,
  };
};

export const storageConfig = defineConfig(
  settings,
  (values): StorageConfig => ({
    blobs: blobStoreConfig(values),
    filesUrl: values.BACKLOT_FILES_URL ?? values.BACKLOT_PUBLIC_URL,
    masterKeys: values.BACKLOT_SECRETS_KEYS,
    quotaBytes: values.BACKLOT_STORAGE_QUOTA_BYTES,
    maxUploads: values.BACKLOT_STORAGE_MAX_UPLOADS,
    maxDownloads: values.BACKLOT_STORAGE_MAX_DOWNLOADS,
    uploadIdleMs: 20_000,
    redirects: values.BACKLOT_FILES_REDIRECT,
    images: {
      maxPixels: 50_000_000,
      concurrency: values.BACKLOT_IMAGE_CONCURRENCY,
    },
  }),
);
