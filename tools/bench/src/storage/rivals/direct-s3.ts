import { open } from 'node:fs/promises';
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { MIB } from '@backlot/contract';
import type { S3Access } from '@backlot/local-servers';
import type { Rival } from '../uploads.ts';

/** As the service's (services/storage/src/blob-store). */
const partBytes = 5 * MIB;
const partsInFlight = 3;
const bound = 0.5;

const uploadParts = async (client: S3Client, place: Place, path: string) => {
  const file = await open(path);
  let next = 1;
  const Parts: { ETag: string | undefined; PartNumber: number }[] = [];
  const worker = async () => {
    const buffer = Buffer.allocUnsafeSlow(partBytes);
    for (;;) {
      const PartNumber = next++;
      const { bytesRead } = await file.read(buffer, 0, partBytes, (PartNumber - 1) * partBytes);
      if (bytesRead === 0) return;
      const Body = buffer.subarray(0, bytesRead);
      const { ETag } = await client.send(new UploadPartCommand({ ...place, PartNumber, Body }));
      Parts.push({ ETag, PartNumber });
    }
  };
  await Promise.all(Array.from({ length: partsInFlight }, worker));
  await file.close();
  return Parts.sort((a, b) => a.PartNumber - b.PartNumber);
};

/** The SDK, from a file to S3, in this process; makes the bucket. */
export const directS3 = async (access: S3Access, Bucket: string): Promise<Rival> => {
  const { endpoint, accessKeyId, secretAccessKey } = access;
  const client = new S3Client({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  await client.send(new CreateBucketCommand({ Bucket }));
  return {
    name: 'the SDK alone',
    pid: process.pid,
    bound,
    async send(path) {
      const startedAt = performance.now();
      const Key = 'direct';
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
      const place = { Bucket, Key, UploadId };
      const Parts = await uploadParts(client, place, path);
      const MultipartUpload = { Parts };
      await client.send(new CompleteMultipartUploadCommand({ ...place, MultipartUpload }));
      const seconds = (performance.now() - startedAt) / 1000;
      await client.send(new DeleteObjectCommand({ Bucket, Key }));
      return seconds;
    },
  };
};

interface Place {
  Bucket: string;
  Key: string;
  UploadId: string | undefined;
}
