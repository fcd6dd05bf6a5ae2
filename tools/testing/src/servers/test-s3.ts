import { randomUUID } from 'node:crypto';
import { type S3Access, startS3 } from '@backlot/local-servers';
import { startOncePerRun } from './lazy-server.ts';

export interface TestS3 extends S3Access {
  /** A name that nobody has; making the bucket is the test's part. */
  bucket: string;
}

/**
 * The server of S3_TEST_ENDPOINT (with S3_TEST_ACCESS_KEY_ID and S3_TEST_SECRET_ACCESS_KEY), or one
 * started for the run at the first call.
 */
export async function createTestS3(): Promise<TestS3> {
  const access = given() ?? (await startOncePerRun('s3', start));
  return { ...access, bucket: `backlot-${randomUUID()}` };
}

function given(): S3Access | undefined {
  const {
    S3_TEST_ENDPOINT: endpoint,
    S3_TEST_ACCESS_KEY_ID: accessKeyId = '',
    S3_TEST_SECRET_ACCESS_KEY: secretAccessKey = '',
  } = process.env;
  return endpoint === undefined ? undefined : { endpoint, accessKeyId, secretAccessKey };
}

async function start(dataDir: string): Promise<S3Access> {
  const { endpoint, accessKeyId, secretAccessKey } = await startS3({ dataDir });
  return { endpoint, accessKeyId, secretAccessKey };
}
