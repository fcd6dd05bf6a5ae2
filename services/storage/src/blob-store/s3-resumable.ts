import type { Readable } from 'node:stream';
import type { S3 } from '@aws-sdk/client-s3';
import { type MetadataValue, S3Store } from '@tus/s3-store';
import { TUS_RESUMABLE, type Upload } from '@tus/server';
import { BlobNotFound, checkKey, type Notes } from './blob-store.ts';
import { type PartBuffer, type PartBuffers, partsOf } from './part-buffers.ts';
import { asked, given, sendParts } from './s3-parts.ts';

/** Where the bytes wait that do not fill a part yet. */
export const incompletePart = (key: string): string => `${key}.part`;

/**
 * Objects that grow part by part. Parts are made in the buffers that all uploads share, not in files
 * of a temporary folder, and what is known of an upload is noted, not stored in an object beside it.
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
    return asked(super.create(upload));
  }

  override async getUpload(id: string): Promise<Upload> {
    const metadata = await this.#noted(id);
    const upload = await asked(super.getUpload(id));
    // A process may have ended between the last part and this; and an upload that was ended looks whole.
    if (upload.offset === upload.size && !(await this.#isComplete(id)))
      await this.#complete(metadata);
    return upload;
  }

  override async write(source: Readable, id: string, offset: number): Promise<number> {
    const metadata = await this.#noted(id);
    const sent = await asked(this.retrieveParts(id));
    const waiting = await asked(this.getIncompletePart(id));
    const place = { Bucket: this.bucket, Key: id, UploadId: metadata['upload-id'] };
    let reached = offset;
    async function* bytes(): AsyncGenerator<Buffer> {
      if (waiting) yield* given(waiting);
      for await (const chunk of source) {
        reached += chunk.length;
        yield chunk;
      }
    }
    let isWaiting = waiting !== undefined;
    let rest: PartBuffer | undefined;
    const wholeParts = async function* (this: ResumableObjects) {
      for await (const part of partsOf(bytes(), this.#buffers.acquire)) {
        rest = part;
        if (!part.isFull() && reached !== metadata.file.size) return;
        // It is in this part, and would count twice.
        if (isWaiting) await asked(this.deleteIncompletePart(id));
        isWaiting = false;
        rest = undefined;
        yield part;
      }
    };
    try {
      const firstNumber = sent.length + 1;
      await sendParts(this.client, place, wholeParts.call(this), { firstNumber, inFlight: 1 });
      if (rest) await this.#keepAside(id, await rest.seal());
    } finally {
      rest?.release();
    }
    if (reached === metadata.file.size) await this.#complete(metadata);
    return reached;
  }

  /** @throws BlobNotFound */
  async #noted(id: string): Promise<MetadataValue> {
    const noted = await this.cache.get(id);
    if (!noted) throw new BlobNotFound('no such upload');
    return noted;
  }

  async #isComplete(Key: string): Promise<boolean> {
    const head = asked(this.client.headObject({ Bucket: this.bucket, Key }));
    return head.then(
      () => true,
      (error: unknown) => {
        if (error instanceof BlobNotFound) return false;
        throw error;
      },
    );
  }

  /** @throws BlobNotFound where it was ended */
  async #complete(metadata: MetadataValue): Promise<void> {
    const parts = await asked(this.retrieveParts(metadata.file.id));
    await asked(this.finishMultipartUpload(metadata, parts));
  }

  async #keepAside(id: string, Body: Buffer) {
    await asked(this.client.putObject({ Bucket: this.bucket, Key: incompletePart(id), Body }));
  }
}
