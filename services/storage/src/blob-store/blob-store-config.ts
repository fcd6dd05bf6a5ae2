import { readSettings } from '@backlot/service';
import { z } from 'zod';

const MIB = 1024 * 1024;

/** Where files lie: one of two. */
export const blobStoreSettings = {
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
};

const values = z.object(blobStoreSettings);
export type BlobStoreValues = z.output<typeof values>;

/** For `superRefine`. */
export const checkBlobStore = (value: BlobStoreValues, context: z.RefinementCtx): void => {
  const refuse = (path: string, message: string) =>
    context.addIssue({ code: 'custom', path: [path], message });
  if (
    (value.BACKLOT_S3_ACCESS_KEY_ID === undefined) !==
    (value.BACKLOT_S3_SECRET_ACCESS_KEY === undefined)
  )
    refuse('BACKLOT_S3_SECRET_ACCESS_KEY', 'comes with BACKLOT_S3_ACCESS_KEY_ID');
  if ((value.BACKLOT_STORAGE_DIR === undefined) === (value.BACKLOT_S3_BUCKET === undefined))
    refuse('BACKLOT_STORAGE_DIR', 'Set BACKLOT_STORAGE_DIR or BACKLOT_S3_BUCKET, one of the two');
};

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

/** @param readSockets connections that read objects */
export const toBlobStoreConfig = (
  values: BlobStoreValues,
  readSockets: number,
): BlobStoreConfig => {
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
    readSockets,
  };
};

/** For who reads the store beside the service. @throws Error naming each wrong setting */
export const readBlobStoreConfig = (
  env: Readonly<Record<string, string | undefined>>,
  readSockets: number,
): BlobStoreConfig =>
  toBlobStoreConfig(readSettings(values.superRefine(checkBlobStore), env), readSockets);
