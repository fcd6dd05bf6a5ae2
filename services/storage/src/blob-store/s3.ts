import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { BlobNotFound, type BlobStore, checkKey } from './blob-store.ts';
import type { S3Config } from './blob-store-config.ts';
import { createPartBuffers, type PartBuffer, splitIntoParts } from './part-buffers.ts';
import { createS3Client } from './s3-client.ts';
import { type MultipartPlace, partBytes, sendParts, translateS3Errors } from './s3-parts.ts';
import { incompletePart, ResumableObjects } from './s3-resumable.ts';

/** For one upload. */
const partsInFlight = 3;

/** Blobs as objects of a bucket. */
export const createS3BlobStore = (config: S3Config): BlobStore => {
  const client = createS3Client(config);
  // A slow download keeps its connection: what writes and removes must not wait for it.
  const reader = createS3Client(config, config.readSockets);
  const buffers = createPartBuffers(partBytes, Math.floor(config.bufferBytes / partBytes));
  const location = (key: string) => ({ Bucket: config.bucket, Key: checkKey(key) });

  const putObject = async (key: string, part: PartBuffer | undefined) => {
    const Body = (await part?.seal()) ?? Buffer.alloc(0);
    await translateS3Errors(client.send(new PutObjectCommand({ ...location(key), Body }))).finally(
      () => part?.release(),
    );
  };

  const putParts = async (place: MultipartPlace, parts: AsyncIterable<PartBuffer>) => {
    const Parts = await sendParts(client, place, parts, {
      firstNumber: 1,
      inFlight: partsInFlight,
    });
    await translateS3Errors(
      client.send(new CompleteMultipartUploadCommand({ ...place, MultipartUpload: { Parts } })),
    );
  };

  const abort = (place: MultipartPlace) =>
    translateS3Errors(client.send(new AbortMultipartUploadCommand(place))).catch(
      (error: unknown) => {
        if (!(error instanceof BlobNotFound)) throw error;
      },
    );

  const putMultipart = async (key: string, first: PartBuffer, rest: AsyncIterable<PartBuffer>) => {
    async function* parts() {
      yield first;
      yield* rest;
    }
    const { UploadId = '' } = await translateS3Errors(
      client.send(new CreateMultipartUploadCommand(location(key))),
    );
    const place = { ...location(key), UploadId };
    await putParts(place, parts()).catch(async (error: unknown) => {
      // What this leaves behind, `remove` ends.
      await abort(place).catch(() => {});
      throw error;
    });
  };

  const put = async (key: string, source: AsyncIterable<Buffer>) => {
    checkKey(key);
    const parts = splitIntoParts(source, buffers.acquire);
    try {
      const { value: first } = await parts.next();
      if (first?.isFull()) await putMultipart(key, first, parts).finally(() => first.release());
      else await putObject(key, first ?? undefined);
    } finally {
      await parts.return(undefined);
    }
  };

  return {
    put,
    async open(key, range) {
      const Range = range && `bytes=${range.start}-${range.end}`;
      const { Body } = await translateS3Errors(
        reader.send(new GetObjectCommand({ ...location(key), ...(Range && { Range }) })),
      );
      if (!(Body instanceof Readable)) throw new TypeError('S3 answered without a stream.');
      return Body;
    },
    async sizeBytes(key) {
      const { ContentLength } = await translateS3Errors(
        client.send(new HeadObjectCommand(location(key))),
      );
      return ContentLength ?? 0;
    },
    async remove(key) {
      const { Bucket, Key } = location(key);
      const { Uploads = [] } = await translateS3Errors(
        client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: Key })),
      );
      for (const { UploadId } of Uploads) await abort({ Bucket, Key, UploadId: UploadId ?? '' });
      for (const objectKey of [incompletePart(Key), Key])
        await translateS3Errors(client.send(new DeleteObjectCommand({ Bucket, Key: objectKey })));
    },
    resumable: (notes) => new ResumableObjects(client, config.bucket, buffers, notes),
    async close() {
      for (const each of [client, reader]) each.destroy();
    },
    direct: {
      presignUpload: (key, maxBytes, Expires) =>
        createPresignedPost(client, {
          ...location(key),
          Conditions: [['content-length-range', 1, maxBytes]],
          Expires,
        }),
      presignRead: (key, { contentType, contentDisposition }, expiresIn) =>
        getSignedUrl(
          client,
          new GetObjectCommand({
            ...location(key),
            ResponseContentType: contentType,
            ResponseContentDisposition: contentDisposition,
          }),
          { expiresIn },
        ),
      async copy(from, to) {
        const CopySource = `${config.bucket}/${checkKey(from)}`;
        await translateS3Errors(
          client.send(new CopyObjectCommand({ ...location(to), CopySource })),
        );
      },
    },
  };
};
