import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import pLimit from 'p-limit';
import { BlobNotFound, type BlobStore } from '../blob-store/blob-store.ts';
import type { StorageConfig } from '../config.ts';
import { type File, fileNotFound } from '../files.ts';
import type { LooseBlobs } from '../loose-blobs.ts';
import { type ImageFormat, ImageRefused, type Transformation, transform } from './transform.ts';

/** What a caller asks for; all of it may be left out. */
export interface ImageQuery {
  width?: number | undefined;
  height?: number | undefined;
  fit?: Transformation['fit'] | undefined;
  format?: ImageFormat | undefined;
}

export interface Image {
  blobKey: string;
  mediaType: string;
  sizeBytes: number;
  variant: string;
}

export interface ImagesDeps {
  database: Database;
  store: BlobStore;
  looseBlobs: LooseBlobs;
  now: () => number;
  config: StorageConfig['images'];
}

export type Images = ReturnType<typeof createImages>;

const timeoutSeconds = 10;
/** A source is held in memory. */
const maxSourceBytes = 32 * 1024 * 1024;
const maxWaiting = 100;
/** Of one file; past it the oldest goes. */
const maxVariants = 40;

const ownFormat: Partial<Record<string, ImageFormat>> = {
  'image/jpeg': 'jpeg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/gif': 'webp',
  'image/tiff': 'webp',
  'image/apng': 'png',
};

const refused = (why: string, cause?: unknown) =>
  new ApiError('invalid_query', `This file can not be transformed: ${why}.`, { cause });

export const isAsked = ({ width, height, format }: ImageQuery): boolean =>
  width !== undefined || height !== undefined || format !== undefined;

/** @throws ApiError invalid_query where the file is no image */
const transformationOf = (file: File, query: ImageQuery): Transformation => {
  const own = ownFormat[file.mediaType];
  if (!own) throw refused('it is no image');
  if (file.sizeBytes > maxSourceBytes) throw refused(`it has more than ${maxSourceBytes} bytes`);
  const { width, height, fit = 'inside', format = own } = query;
  return { width, height, fit, format };
};

const nameOf = ({ width, height, fit, format }: Transformation) =>
  `${width ?? ''}x${height ?? ''}-${fit}.${format}`;

/** Images made from files, kept beside them, each made once. */
export const createImages = ({ database, store, looseBlobs, now, config }: ImagesDeps) => {
  const slots = pLimit(config.concurrency);
  const underWay = new Map<string, Promise<Image | undefined>>();
  const limits = { maxPixels: config.maxPixels, timeoutSeconds };

  const find = async (projectNumber: number, fileId: string, variant: string) => {
    const [row] = await database.query<{
      blob_key: string;
      media_type: string;
      size_bytes: number;
    }>(
      `SELECT blob_key, media_type, size_bytes FROM images
        WHERE project_number = $1 AND file_id = $2 AND variant = $3`,
      [projectNumber, fileId, variant],
    );
    return (
      row && {
        blobKey: row.blob_key,
        mediaType: row.media_type,
        sizeBytes: row.size_bytes,
        variant,
      }
    );
  };

  const bytesOf = async (file: File, wanted: Transformation): Promise<Buffer> => {
    try {
      return await transform(await store.open(file.blobKey), wanted, limits);
    } catch (error) {
      if (error instanceof BlobNotFound) throw fileNotFound();
      if (!(error instanceof ImageRefused)) throw error;
      throw refused('it is broken or too large', error);
    }
  };

  /** Keys of blobs that make room for one more. */
  const dropOldest = async (projectNumber: number, fileId: string) => {
    const rows = await database.query<{ blob_key: string }>(
      `DELETE FROM images WHERE project_number = $1 AND file_id = $2 AND variant IN (
         SELECT variant FROM images WHERE project_number = $1 AND file_id = $2
          ORDER BY created_at DESC OFFSET ${maxVariants - 1})
       RETURNING blob_key`,
      [projectNumber, fileId],
    );
    const keys = rows.map((row) => row.blob_key);
    await looseBlobs.letGo(projectNumber, keys);
  };

  /** Another process may have been faster; then that one's stays. */
  const keep = (projectNumber: number, file: File, image: Image) =>
    database.transaction(async () => {
      // Locked, so that the file is not deleted between this and the row.
      const found = await database.query(
        'SELECT true FROM files WHERE project_number = $1 AND id = $2 FOR KEY SHARE',
        [projectNumber, file.id],
      );
      if (found.length === 0) throw fileNotFound();
      await dropOldest(projectNumber, file.id);
      const kept = await database.query(
        `INSERT INTO images
           (project_number, file_id, variant, media_type, size_bytes, blob_key, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING true`,
        [
          ...[projectNumber, file.id, image.variant, image.mediaType, image.sizeBytes],
          ...[image.blobKey, new Date(now())],
        ],
      );
      if (kept.length > 0) await looseBlobs.takeOver(projectNumber, image.blobKey);
    });

  const make = async (projectNumber: number, file: File, wanted: Transformation) => {
    const variant = nameOf(wanted);
    const bytes = await bytesOf(file, wanted);
    const image: Image = {
      blobKey: `${projectNumber}/${randomUUID()}`,
      mediaType: `image/${wanted.format}`,
      sizeBytes: bytes.length,
      variant,
    };
    await looseBlobs.lease(projectNumber, image.blobKey);
    try {
      await store.put(image.blobKey, Readable.from([bytes]));
      await keep(projectNumber, file, image);
    } finally {
      await looseBlobs.settle(projectNumber, [image.blobKey]);
    }
    return find(projectNumber, file.id, variant);
  };

  /** Calls for the same image wait for one. */
  const once = (key: string, work: () => Promise<Image | undefined>) => {
    const known = underWay.get(key);
    if (known !== undefined) return known;
    if (slots.pendingCount >= maxWaiting)
      throw new ApiError('overloaded', 'Too many images at a time. Try again shortly.', {
        retryAfterSeconds: 2,
      });
    const made = slots(work).finally(() => underWay.delete(key));
    underWay.set(key, made);
    return made;
  };

  return {
    /** @throws ApiError invalid_query, overloaded, not_found */
    async get(projectNumber: number, file: File, query: ImageQuery): Promise<Image> {
      const wanted = transformationOf(file, query);
      const variant = nameOf(wanted);
      const found =
        (await find(projectNumber, file.id, variant)) ??
        (await once(`${projectNumber}/${file.id}/${variant}`, () =>
          make(projectNumber, file, wanted),
        ));
      if (!found) throw fileNotFound();
      return found;
    },
  };
};
