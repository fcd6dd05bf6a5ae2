import {
  CreateBucketCommand,
  DeleteBucketCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
} from '@aws-sdk/client-s3';
import { createTestS3 } from '@backlot/testing';
import type { StoreUnderTest } from '../blob-store/blob-store.conformance.ts';
import type { S3Config } from '../blob-store/blob-store-config.ts';
import { createS3BlobStore } from '../blob-store/s3.ts';
import { createS3Client } from '../blob-store/s3-client.ts';

/** A bucket that nobody has made yet, on the server of the test run. */
export const s3ConfigFor = async (changes: Partial<S3Config> = {}): Promise<S3Config> => {
  const { endpoint, bucket, accessKeyId, secretAccessKey } = await createTestS3();
  return {
    kind: 's3',
    bucket,
    region: 'us-east-1',
    endpoint,
    forcePathStyle: true,
    checksums: 'WHEN_REQUIRED',
    encryption: undefined,
    kmsKeyId: undefined,
    credentials: { accessKeyId, secretAccessKey },
    bufferBytes: 20 * 1024 * 1024,
    readSockets: 128,
    ...changes,
  };
};

/** A store over a bucket of its own; `close` fails where something is left in it. */
export const startS3Store = async (changes: Partial<S3Config> = {}): Promise<StoreUnderTest> => {
  const config = await s3ConfigFor(changes);
  const { bucket: Bucket } = config;
  const client = createS3Client(config);
  await client.send(new CreateBucketCommand({ Bucket }));
  const store = createS3BlobStore(config);
  return {
    store,
    async leftovers() {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
      return [...Contents, ...Uploads].map(({ Key = '' }) => Key);
    },
    async close() {
      await client.send(new DeleteBucketCommand({ Bucket }));
      client.destroy();
      await store.close();
    },
  };
};
