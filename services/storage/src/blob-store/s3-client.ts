import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { S3Client } from '@aws-sdk/client-s3';
import type { S3Config } from '../config.ts';

const maxSockets = 128;

export const createS3Client = (config: S3Config): S3Client =>
  new S3Client({
    region: config.region,
    ...(config.endpoint === undefined ? {} : { endpoint: config.endpoint }),
    ...(config.credentials === undefined ? {} : { credentials: config.credentials }),
    forcePathStyle: config.forcePathStyle,
    requestChecksumCalculation: config.checksums,
    responseChecksumValidation: config.checksums,
    requestHandler: {
      connectionTimeout: 3000,
      // Of silence.
      socketTimeout: 60_000,
      httpAgent: new HttpAgent({ keepAlive: true, maxSockets }),
      httpsAgent: new HttpsAgent({ keepAlive: true, maxSockets }),
    },
  });
