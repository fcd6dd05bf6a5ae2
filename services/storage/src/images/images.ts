import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { ApiError, KIB } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { FairShares, Requester } from '@backlot/fair-shares';
import pMemoize from 'p-memoize';
import { BlobNotFound, type BlobStore } from '../blob-store/blob-store.ts';
import type { UnclaimedBlobs } from '../blob-store/unclaimed-blobs.ts';
import { type File, fileNotFound } from '../files/file.ts';
import type { Quota } from '../files/quota.ts';
import { svg } from '../media-types/media-type.ts';
import type { DB as Tables } from '../tables.ts';
import { type ImageProcesses, type ImageSource, tookTooLong } from './image-processes.ts';
import { createQuickImages } from './quick-images.ts';
import type { ImageFormat, Transformation } from './transform.ts';

export interface ImageQuery {
  width?: number | undefined;
  height?: number | undefined;
  fit?: Transformation['fit'] | undefined;
  format?: ImageFormat | undefined;
}

export interface Image {
  /** The key of its blob, or its bytes where there is no room to keep it. */
  blob: string | Buffer;
  mediaType: string;
  sizeBytes: number;
  variant: string;
}

export interface ImagesDeps {
  database: Database;
  store: BlobStore;
  unclaimedBlobs: UnclaimedBlobs;
  quota: Quota;
  now: () => number;
  /** Of the processor. */
  shares: FairShares;
  processes: ImageProcesses;
}

export type Images = ReturnType<typeof createImages>;

/** For whom an image is made. */
export interface Viewer {
  requester: Requester;
  /** Aborted when they have gone. */
  signal?: AbortSignal | undefined;
}

/** A source is held in memory. */
const maxSourceBytes = 32 * 1024 * 1024;
/** An image without room in the quota is served from memory up to this size. */
const maxUnkeptBytes = 256 * KIB;
/** For one file; past it the oldest is deleted. */
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

const cannotTransform = (why: string, cause?: unknown) =>
  new ApiError('invalid_query', `This file can not be transformed: ${why}.`, { cause });

export const wantsImage = ({ width, height, format }: ImageQuery): boolean =>
  width !== undefined || height !== undefined || format !== undefined;

const supported = 'JPEG, PNG, WebP, AVIF, GIF and TIFF can be';
const otherImages: Record<string, string> = {
  'image/heic': 'HEIC',
  'image/heic-sequence': 'HEIC',
  'image/heif': 'HEIF',
  'image/heif-sequence': 'HEIF',
  'image/bmp': 'BMP',
  'image/x-icon': 'ICO',
  'image/vnd.microsoft.icon': 'ICO',
  'image/jxl': 'JPEG XL',
  'image/vnd.adobe.photoshop': 'Photoshop',
};

/** Why a file of this type can not be transformed. */
const describeUnsupported = (mediaType: string): string => {
  if (mediaType === svg) return 'an SVG has no pixels';
  if (!mediaType.startsWith('image/')) return 'it is no image';
  return `it is ${otherImages[mediaType] ?? mediaType}; ${supported}`;
};

const sideLimits: Record<string, string> = { WebP: '16,383', HEIF: '16,384', JPEG: '65,535' };

/** @param reason in the words of sharp */
const describeRefusal = (reason: string): string => {
  const [, format = ''] = /too large for the (\w+) format/.exec(reason) ?? [];
  const limit = sideLimits[format];
  if (limit !== undefined) {
    const name = format === 'HEIF' ? 'AVIF' : format;
    return `${name} has at most ${limit} pixels a side: ask for a smaller width and height, or another format`;
  }
  if (reason.includes('exceeds pixel limit')) return 'it has too many pixels';
  if (reason === tookTooLong) return 'it takes too long, or too much memory';
  return 'it is broken';
};

/** @throws ApiError invalid_query where the file is no image */
const resolveTransformation = (file: File, query: ImageQuery): Transformation => {
  const own = ownFormat[file.mediaType];
  if (!own) throw cannotTransform(describeUnsupported(file.mediaType));
  if (file.sizeBytes > maxSourceBytes)
    throw cannotTransform(`it has more than ${maxSourceBytes} bytes`);
  const { width, height, fit = 'inside', format = own } = query;
  return { width, height, fit, format };
};

const variantName = ({ width, height, fit, format }: Transformation) =>
  `${width ?? ''}x${height ?? ''}-${fit}.${format}`;

/** Images made from files, kept beside them, each made once. */
export const createImages = (deps: ImagesDeps) => {
  const { database, store, unclaimedBlobs, quota, now, shares, processes } = deps;
  const queries = createQueries<Tables>(database);
  const quickImages = createQuickImages();

  const find = async (projectNumber: number, fileId: string, variant: string) => {
    const row = await queries
      .selectFrom('images')
      .select(['blob_key', 'media_type', 'size_bytes'])
      .where('project_number', '=', projectNumber)
      .where('file_id', '=', fileId)
      .where('variant', '=', variant)
      .executeTakeFirst();
    return (
      row && {
        blob: row.blob_key,
        mediaType: row.media_type,
        sizeBytes: row.size_bytes,
        variant,
      }
    );
  };

  const readSource = async ({ blobKey }: File): Promise<ImageSource> => {
    if (store.folder !== undefined) return blobKey;
    try {
      const source = await store.open(blobKey);
      return Buffer.concat(await source.toArray());
    } catch (error) {
      throw error instanceof BlobNotFound ? fileNotFound() : error;
    }
  };

  const renderImage = async (owner: string, file: File, wanted: Transformation) => {
    const answer = await processes.transform(await readSource(file), wanted);
    if ('isMissing' in answer) throw fileNotFound();
    quickImages.learn(owner, wanted, answer.cpuMs);
    if ('bytes' in answer) return Buffer.from(answer.bytes);
    throw cannotTransform(describeRefusal(answer.refused), new Error(answer.refused));
  };

  /** Makes room for one more. */
  const dropOldest = async (projectNumber: number, fileId: string) => {
    const rows = await queries
      .deleteFrom('images')
      .where('project_number', '=', projectNumber)
      .where('file_id', '=', fileId)
      .where('variant', 'in', (images) =>
        images
          .selectFrom('images')
          .select('variant')
          .where('project_number', '=', projectNumber)
          .where('file_id', '=', fileId)
          .orderBy('created_at', 'desc')
          .offset(maxVariants - 1),
      )
      .returning(['blob_key', 'size_bytes'])
      .execute();
    await quota.removeImages(
      projectNumber,
      rows.map((row) => row.size_bytes),
    );
    const keys = rows.map((row) => row.blob_key);
    await unclaimedBlobs.scheduleRemoval(projectNumber, keys);
  };

  /** Where another process was faster, its image stays. False where there is no room for it. */
  const insert = (projectNumber: number, file: File, image: Image, blobKey: string) =>
    database.transaction(async () => {
      await quota.lock(projectNumber);
      // Locked, so that the file is not deleted before the row is inserted.
      const locked = await queries
        .selectFrom('files')
        .select('id')
        .where('project_number', '=', projectNumber)
        .where('id', '=', file.id)
        .forKeyShare()
        .executeTakeFirst();
      if (!locked) throw fileNotFound();
      if (await find(projectNumber, file.id, image.variant)) return true;
      await dropOldest(projectNumber, file.id);
      if (!(await quota.addImage(projectNumber, image.sizeBytes))) return false;
      await queries
        .insertInto('images')
        .values({
          project_number: projectNumber,
          file_id: file.id,
          variant: image.variant,
          media_type: image.mediaType,
          size_bytes: image.sizeBytes,
          blob_key: blobKey,
          created_at: new Date(now()),
        })
        .execute();
      await unclaimedBlobs.claim(projectNumber, [blobKey]);
      return true;
    });

  const make = async (owner: string, projectNumber: number, file: File, wanted: Transformation) => {
    const variant = variantName(wanted);
    const bytes = await renderImage(owner, file, wanted);
    const image: Image = {
      blob: bytes,
      mediaType: `image/${wanted.format}`,
      sizeBytes: bytes.length,
      variant,
    };
    const blobKey = `${projectNumber}/${randomUUID()}`;
    await unclaimedBlobs.lease(projectNumber, blobKey);
    try {
      await store.put(blobKey, Readable.from([bytes]));
      if (!(await insert(projectNumber, file, image, blobKey))) {
        if (bytes.length > maxUnkeptBytes) throw quota.exceeded();
        return image;
      }
    } finally {
      await unclaimedBlobs.release(projectNumber, blobKey);
    }
    return (await find(projectNumber, file.id, variant)) ?? image;
  };

  /** Concurrent calls for one image share the work; each waits for a place of its own caller. */
  const makeOnce = pMemoize(
    async (owner: string, projectNumber: number, file: File, wanted: Transformation) =>
      (await find(projectNumber, file.id, variantName(wanted))) ??
      make(owner, projectNumber, file, wanted),
    {
      cache: false,
      cacheKey: ([, projectNumber, file, wanted]) =>
        `${projectNumber}/${file.id}/${variantName(wanted)}`,
    },
  );

  return {
    /** @throws ApiError invalid_query, not_found, storage_quota; FairShareFull */
    async get(
      projectNumber: number,
      file: File,
      query: ImageQuery,
      { requester, signal }: Viewer,
    ): Promise<Image> {
      const wanted = resolveTransformation(file, query);
      const kept = await find(projectNumber, file.id, variantName(wanted));
      if (kept) return kept;
      const [owner] = requester;
      return shares.run(requester, () => makeOnce(owner, projectNumber, file, wanted), {
        isQuick: quickImages.isQuick(owner, wanted),
        signal,
      });
    },
  };
};
