import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { S3 } from '@aws-sdk/client-s3';
import type { S3Config } from './blob-store-config.ts';
import { failWhileSilent } from './s3-silence.ts';

/** For all that does not read an object. */
const usualSockets = 128;
/** What creates an object; its parts inherit the encryption. */
const creatingCommands = ['PutObjectCommand', 'CreateMultipartUploadCommand', 'CopyObjectCommand'];

/** It encrypts every object that it creates as the settings say. */
export const createS3Client = (config: S3Config, maxSockets = usualSockets): S3 => {
  const agents = {
    httpAgent: new HttpAgent({ keepAlive: true, maxSockets }),
    httpsAgent: new HttpsAgent({ keepAlive: true, maxSockets }),
  };
  const client = new S3({
    region: config.region,
    ...(config.endpoint === undefined ? {} : { endpoint: config.endpoint }),
    ...(config.credentials === undefined ? {} : { credentials: config.credentials }),
    forcePathStyle: config.forcePathStyle,
    requestChecksumCalculation: config.checksums,
    responseChecksumValidation: config.checksums,
    requestHandler: {
      connectionTimeout: 3000,
      socketTimeout: 60_000,
      ...agents,
    },
  });
  failWhileSilent(client, Object.values(agents));
  const encryption = {
    ...(config.encryption === undefined ? {} : { ServerSideEncryption: config.encryption }),
    ...(config.kmsKeyId === undefined ? {} : { SSEKMSKeyId: config.kmsKeyId }),
  };
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      ({ input, ...rest }) =>
        next({
          ...rest,
          input: creatingCommands.includes(commandName) ? { ...input, ...encryption } : input,
        }),
    { step: 'initialize', name: 'encryption' },
  );
  return client;
};
