import type { Readable } from 'node:stream';
import {
  type CompletedPart,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { BlobNotFound, BlobStoreUnavailable } from './blob-store.ts';
import type { PartBuffer } from './part-buffers.ts';

/** The least that S3 takes for a part that is not the last; 10,000 of them are 48 GiB. */
export const partBytes = 5 * 1024 * 1024;
export interface MultipartPlace {
  Bucket: string;
  Key: string;
  UploadId: string;
}

const isMissing = (error: unknown) =>
  error instanceof S3ServiceException &&
  ['NoSuchKey', 'NotFound', 'NoSuchUpload'].includes(error.name);

/** Of a request to S3; never of the source that is stored. */
export const asked = <T>(request: Promise<T>): Promise<T> =>
  request.catch((error: unknown) => {
    if (isMissing(error)) throw new BlobNotFound('no such blob', { cause: error });
    throw new BlobStoreUnavailable('S3 fails', { cause: error });
  });

/** The same for what S3 has begun to give. */
export async function* given(body: Readable): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (cause) {
    throw new BlobStoreUnavailable('S3 breaks off', { cause });
  }
}

const sendPart = async (
  client: S3Client,
  place: MultipartPlace,
  PartNumber: number,
  part: PartBuffer,
): Promise<CompletedPart> => {
  try {
    const Body = await part.seal();
    const { ETag } = await asked(
      client.send(new UploadPartCommand({ ...place, PartNumber, Body })),
    );
    return { ETag, PartNumber };
  } finally {
    part.release();
  }
};

/**
 * Resolves when all have arrived, and rejects when none is under way any more.
 * @param inFlight one at a time where no part may arrive before those in front of it
 */
export const sendParts = async (
  client: S3Client,
  place: MultipartPlace,
  parts: AsyncIterable<PartBuffer>,
  { firstNumber, inFlight }: { firstNumber: number; inFlight: number },
): Promise<CompletedPart[]> => {
  const sent: Promise<CompletedPart>[] = [];
  try {
    for await (const part of parts) {
      const sending = sendPart(client, place, firstNumber + sent.length, part);
      // Heard of when its turn comes.
      sending.catch(() => {});
      sent.push(sending);
      await sent.at(-inFlight);
    }
  } finally {
    await Promise.allSettled(sent);
  }
  return Promise.all(sent);
};
