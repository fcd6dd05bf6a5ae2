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
import type { S3Config } from '../config.ts';
import { BlobNotFound, type BlobStore, checkKey } from './blob-store.ts';
import { createPartBuffers, type PartBuffer, partsOf } from './part-buffers.ts';
import { createS3Client } from './s3-client.ts';
import { asked, type MultipartPlace, partBytes, sendParts } from './s3-parts.ts';
import { incompletePart, ResumableObjects } from './s3-resumable.ts';

/** Of one upload. */
const partsInFlight = 3;

/** Blobs as objects of a bucket. */
export const createS3BlobStore = (config: S3Config): BlobStore => {
  const client = createS3Client(config);
  const buffers = createPartBuffers(partBytes, Math.floor(config.bufferBytes / partBytes));
  const at = (key: string) => ({ Bucket: config.bucket, Key: checkKey(key) });

  const putWhole = async (key: string, part: PartBuffer | undefined) => {
    const Body = (await part?.seal()) ?? Buffer.alloc(0);
    await asked(client.send(new PutObjectCommand({ ...at(key), Body }))).finally(() =>
      part?.release(),
    );
  };

  const putParts = async (place: MultipartPlace, parts: AsyncIterable<PartBuffer>) => {
    const Parts = await sendParts(client, place, parts, {
      firstNumber: 1,
      inFlight: partsInFlight,
    });
    await asked(
      client.send(new CompleteMultipartUploadCommand({ ...place, MultipartUpload: { Parts } })),
    );
  };

  const abort = (place: MultipartPlace) =>
    asked(client.send(new AbortMultipartUploadCommand(place))).catch((error: unknown) => {
      if (!(error instanceof BlobNotFound)) throw error;
    });

  const putMultipart = async (key: string, first: PartBuffer, rest: AsyncIterable<PartBuffer>) => {
    async function* parts() {
      yield first;
      yield* rest;
    }
    const { UploadId = '' } = await asked(client.send(new CreateMultipartUploadCommand(at(key))));
    const place = { ...at(key), UploadId };
    await putParts(place, parts()).catch(async (error: unknown) => {
      // What this leaves, `remove` ends.
      await abort(place).catch(() => {});
      throw error;
    });
  };

  const put = async (key: string, source: AsyncIterable<Buffer>) => {
    checkKey(key);
    const parts = partsOf(source, buffers.acquire);
    try {
      const { value: first } = await parts.next();
      if (first?.isFull()) await putMultipart(key, first, parts).finally(() => first.release());
      else await putWhole(key, first ?? undefined);
    } finally {
      await parts.return(undefined);
    }
  };

  return {
    put,
    async open(key, range) {
      const Range = range && `bytes=${range.start}-${range.end}`;
      const { Body } = await asked(
        client.send(new GetObjectCommand({ ...at(key), ...(Range && { Range }) })),
      );
      if (!(Body instanceof Readable)) throw new TypeError('S3 answered without a stream.');
      return Body;
    },
    async sizeBytes(key) {
      const { ContentLength } = await asked(client.send(new HeadObjectCommand(at(key))));
      return ContentLength ?? 0;
    },
    async remove(key) {
      const { Bucket, Key } = at(key);
      const { Uploads = [] } = await asked(
        client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: Key })),
      );
      for (const { UploadId } of Uploads) await abort({ Bucket, Key, UploadId: UploadId ?? '' });
      for (const each of [incompletePart(Key), Key])
        await asked(client.send(new DeleteObjectCommand({ Bucket, Key: each })));
    },
    resumable: (notes) => new ResumableObjects(client, config.bucket, buffers, notes),
    async close() {
      client.destroy();
    },
    direct: {
      presign: (key, mostBytes, Expires) =>
        createPresignedPost(client, {
          ...at(key),
          Conditions: [['content-length-range', 1, mostBytes]],
          Expires,
        }),
      presignRead: (key, { contentType, contentDisposition }, expiresIn) =>
        getSignedUrl(
          client,
          new GetObjectCommand({
            ...at(key),
            ResponseContentType: contentType,
            ResponseContentDisposition: contentDisposition,
          }),
          { expiresIn },
        ),
      async copy(from, to) {
        const CopySource = `${config.bucket}/${checkKey(from)}`;
        await asked(client.send(new CopyObjectCommand({ ...at(to), CopySource })));
      },
    },
  };
};
