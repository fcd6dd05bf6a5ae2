import {
  CreateBucketCommand,
  DeleteBucketCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
} from '@aws-sdk/client-s3';
import { createTestS3 } from '@backlot/testing';
import { describe, expect, it } from '@jest/globals';
import type { S3Config } from '../config.ts';
import { blobStoreConformance } from './blob-store.conformance.ts';
import { BlobStoreUnavailable } from './blob-store.ts';
import { createS3BlobStore, createS3Client } from './s3.ts';

const configFor = async (changes: Partial<S3Config> = {}): Promise<S3Config> => {
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
    ...changes,
  };
};

const startStore =
  (changes: Partial<S3Config> = {}) =>
  async () => {
    const config = await configFor(changes);
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

blobStoreConformance('S3', startStore(), 120_000);
blobStoreConformance('S3 with checksums', startStore({ checksums: 'WHEN_SUPPORTED' }), 120_000);

describe('an S3 that fails', () => {
  async function* source() {
    yield Buffer.from('text');
  }

  it('is unavailable where nobody listens', async () => {
    const store = createS3BlobStore(await configFor({ endpoint: 'http://127.0.0.1:9' }));
    await expect(store.put('a/b', source())).rejects.toThrow(BlobStoreUnavailable);
    await expect(store.open('a/b')).rejects.toThrow(BlobStoreUnavailable);
    await store.close();
  }, 60_000);

  it('is unavailable where it refuses us, and never says why to a caller', async () => {
    const credentials = { accessKeyId: 'AKIAWRONG', secretAccessKey: 'wrong' };
    const store = createS3BlobStore(await configFor({ credentials }));
    await expect(store.put('a/b', source())).rejects.toThrow(BlobStoreUnavailable);
    await store.close();
  }, 60_000);
});
