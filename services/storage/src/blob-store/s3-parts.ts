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

/** For requests alone: what the stored source throws must pass through. */
export const translateS3Errors = <T>(request: Promise<T>): Promise<T> =>
  request.catch((error: unknown) => {
    if (isMissing(error)) throw new BlobNotFound('no such blob', { cause: error });
    throw new BlobStoreUnavailable('S3 fails', { cause: error });
  });

export async function* translateReadErrors(body: Readable): AsyncGenerator<Buffer> {
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
    const { ETag } = await translateS3Errors(
      client.send(new UploadPartCommand({ ...place, PartNumber, Body })),
    );
    return { ETag, PartNumber };
  } finally {
    part.release();
  }
};

/**
 * Settles when no part is being sent any more.
 * @param inFlight 1 where parts must arrive in order
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
      // Handled when it is awaited.
      sending.catch(() => {});
      sent.push(sending);
      await sent.at(-inFlight);
    }
  } finally {
    await Promise.allSettled(sent);
  }
  return Promise.all(sent);
};
