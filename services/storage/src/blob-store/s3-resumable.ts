import type { Readable } from 'node:stream';
import type { S3 } from '@aws-sdk/client-s3';
import { type MetadataValue, S3Store } from '@tus/s3-store';
import { TUS_RESUMABLE, type Upload } from '@tus/server';
import { BlobNotFound, checkKey, type Notes } from './blob-store.ts';
import { type PartBuffer, type PartBuffers, splitIntoParts } from './part-buffers.ts';
import { sendParts, translateReadErrors, translateS3Errors } from './s3-parts.ts';

/** Holds the bytes that do not fill a part yet. */
export const incompletePart = (key: string): string => `${key}.part`;

/**
 * Objects that grow part by part. Parts are made in the buffers that all uploads share, not in files
 * of a temporary folder, and what is known of an upload is stored in a note, not in an object beside it.
 */
export class ResumableObjects extends S3Store {
  readonly #buffers: PartBuffers;

  constructor(client: S3, bucket: string, buffers: PartBuffers, notes: Notes) {
    super({ s3ClientConfig: { bucket, region: 'of-the-client-below' }, cache: notes });
    this.client.destroy();
    this.client = client;
    this.#buffers = buffers;
  }

  protected override saveMetadata(file: Upload, uploadId: string): Promise<void> {
    const note = { file, 'upload-id': uploadId, 'tus-version': TUS_RESUMABLE };
    return this.cache.set(file.id, note);
  }

  override async create(upload: Upload): Promise<Upload> {
    checkKey(upload.id);
    return translateS3Errors(super.create(upload));
  }

  override async getUpload(id: string): Promise<Upload> {
    const metadata = await this.#loadMetadata(id);
    const upload = await translateS3Errors(super.getUpload(id));
    // The process may have been killed after the last part; and a removed upload looks complete to tus.
    if (upload.offset === upload.size && !(await this.#objectExists(id)))
      await this.#completeObject(metadata);
    return upload;
  }

  override async write(source: Readable, id: string, offset: number): Promise<number> {
    const metadata = await this.#loadMetadata(id);
    const stored = await translateS3Errors(this.retrieveParts(id));
    const incomplete = await translateS3Errors(this.getIncompletePart(id));
    const place = { Bucket: this.bucket, Key: id, UploadId: metadata['upload-id'] };
    let newOffset = offset;
    async function* bytes(): AsyncGenerator<Buffer> {
      if (incomplete) yield* translateReadErrors(incomplete);
      for await (const chunk of source) {
        newOffset += chunk.length;
        yield chunk;
      }
    }
    let hasIncompletePart = incomplete !== undefined;
    let rest: PartBuffer | undefined;
    const wholeParts = async function* (this: ResumableObjects) {
      for await (const part of splitIntoParts(bytes(), this.#buffers.acquire)) {
        rest = part;
        if (!part.isFull() && newOffset !== metadata.file.size) return;
        // Its bytes are in this part too, and would count twice.
        if (hasIncompletePart) await translateS3Errors(this.deleteIncompletePart(id));
        hasIncompletePart = false;
        rest = undefined;
        yield part;
      }
    };
    try {
      const firstNumber = stored.length + 1;
      await sendParts(this.client, place, wholeParts.call(this), { firstNumber, inFlight: 1 });
      if (rest) await this.#storeIncompletePart(id, await rest.seal());
    } finally {
      rest?.release();
    }
    if (newOffset === metadata.file.size) await this.#completeObject(metadata);
    return newOffset;
  }

  /** @throws BlobNotFound */
  async #loadMetadata(id: string): Promise<MetadataValue> {
    const metadata = await this.cache.get(id);
    if (!metadata) throw new BlobNotFound('no such upload');
    return metadata;
  }

  async #objectExists(Key: string): Promise<boolean> {
    const head = translateS3Errors(this.client.headObject({ Bucket: this.bucket, Key }));
    return head.then(
      () => true,
      (error: unknown) => {
        if (error instanceof BlobNotFound) return false;
        throw error;
      },
    );
  }

  /** @throws BlobNotFound where it was ended */
  async #completeObject(metadata: MetadataValue): Promise<void> {
    const parts = await translateS3Errors(this.retrieveParts(metadata.file.id));
    await translateS3Errors(this.finishMultipartUpload(metadata, parts));
  }

  async #storeIncompletePart(id: string, Body: Buffer) {
    await translateS3Errors(
      this.client.putObject({ Bucket: this.bucket, Key: incompletePart(id), Body }),
    );
  }
}
