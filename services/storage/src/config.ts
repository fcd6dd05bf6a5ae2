import { halfOfCores } from '@backlot/fair-shares';
import { masterKeysSetting } from '@backlot/sealing';
import { baseUrlSetting, defineConfig, publicUrlSetting } from '@backlot/service';
import { z } from 'zod';
import {
  type BlobStoreConfig,
  blobStoreSettings,
  checkBlobStore,
  toBlobStoreConfig,
} from './blob-store/blob-store-config.ts';

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
    ...blobStoreSettings,
  })
  .superRefine(checkBlobStore);

export const storageConfig = defineConfig(
  settings,
  (values): StorageConfig => ({
    blobs: toBlobStoreConfig(values, values.BACKLOT_STORAGE_MAX_DOWNLOADS + spareReadSockets),
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
