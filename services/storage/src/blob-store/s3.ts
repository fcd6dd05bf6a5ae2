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
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { S3Config } from '../config.ts';
import { BlobNotFound, type BlobStore, BlobStoreUnavailable, checkKey } from './blob-store.ts';
import { createPartBuffers, type PartBuffer, partsOf } from './part-buffers.ts';
import { createS3Client } from './s3-client.ts';

/** The least that S3 takes for a part that is not the last; 10,000 of them are 48 GiB. */
const partBytes = 5 * 1024 * 1024;
/** Of one upload. */
const partsInFlight = 3;

const isMissing = (error: unknown) =>
  error instanceof S3ServiceException &&
  ['NoSuchKey', 'NotFound', 'NoSuchUpload'].includes(error.name);

/** Of a request to S3; never of the source that is stored. */
const asked = <T>(request: Promise<T>): Promise<T> =>
  request.catch((error: unknown) => {
    if (isMissing(error)) throw new BlobNotFound('no such blob', { cause: error });
    throw new BlobStoreUnavailable('S3 fails', { cause: error });
  });

/** Blobs as objects of a bucket. */
export const createS3BlobStore = (config: S3Config): BlobStore => {
  const client = createS3Client(config);
  const buffers = createPartBuffers(partBytes, Math.floor(config.bufferBytes / partBytes));
  const at = (key: string) => ({ Bucket: config.bucket, Key: checkKey(key) });
  const encrypted = {
    ...(config.encryption === undefined ? {} : { ServerSideEncryption: config.encryption }),
    ...(config.kmsKeyId === undefined ? {} : { SSEKMSKeyId: config.kmsKeyId }),
  };

  const putWhole = async (key: string, part: PartBuffer | undefined) => {
    const Body = (await part?.seal()) ?? Buffer.alloc(0);
    await asked(client.send(new PutObjectCommand({ ...at(key), ...encrypted, Body }))).finally(() =>
      part?.release(),
    );
  };

  const uploadPart = async (place: MultipartPlace, PartNumber: number, part: PartBuffer) => {
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

  const putParts = async (place: MultipartPlace, parts: AsyncIterable<PartBuffer>) => {
    const sent: ReturnType<typeof uploadPart>[] = [];
    try {
      for await (const part of parts) {
        const sending = uploadPart(place, sent.length + 1, part);
        // Heard of when its turn comes.
        sending.catch(() => {});
        sent.push(sending);
        await sent.at(-partsInFlight);
      }
    } finally {
      await Promise.allSettled(sent);
    }
    const Parts = await Promise.all(sent);
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
    const { UploadId = '' } = await asked(
      client.send(new CreateMultipartUploadCommand({ ...at(key), ...encrypted })),
    );
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
      await asked(client.send(new DeleteObjectCommand({ Bucket, Key })));
    },
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
        await asked(client.send(new CopyObjectCommand({ ...at(to), ...encrypted, CopySource })));
      },
    },
  };
};

interface MultipartPlace {
  Bucket: string;
  Key: string;
  UploadId: string;
}
