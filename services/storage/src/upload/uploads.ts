import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { ApiError, storageRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { BlobStore } from '../blob-store/blob-store.ts';
import type { StorageConfig } from '../config.ts';
import type { Files } from '../files.ts';
import type { LooseBlobs } from '../loose-blobs.ts';
import { type Cap, type ReceivedFile, receiveForm } from './receive-form.ts';

/** A file whose bytes are in the store, and which nobody can see yet. */
export interface Upload extends ReceivedFile {
  id: string;
  blobKey: string;
}

export interface UploadsDeps {
  store: BlobStore;
  looseBlobs: LooseBlobs;
  files: Files;
  config: Pick<StorageConfig, 'maxUploads' | 'uploadIdleMs' | 'quotaBytes'>;
}

export interface Uploads {
  /** @throws ApiError body_too_large, out_of_credits, storage_quota, overloaded, invalid_body … */
  receive(req: IncomingMessage, identity: Identity): Promise<Upload>;
  /** Once a file has it or has not: what is left of it goes away. */
  release(identity: Identity, upload: Upload): Promise<void>;
}

/** What a form takes around its file, at least as long as it is stated. */
const formBytes = 1024 * 1024;

const limitOf = ({ project: { settings } }: Identity): number =>
  typeof settings.maxUploadBytes === 'number'
    ? settings.maxUploadBytes
    : storageRoutes.defaultUploadBytes;

const outOfCredits = () =>
  new ApiError('out_of_credits', 'The credits left do not cover a file of this size.');

export const createUploads = ({ store, looseBlobs, files, config }: UploadsDeps): Uploads => {
  let underWay = 0;

  /** What ends this upload first. */
  const capOf = async (identity: Identity): Promise<Cap> => {
    const limit = limitOf(identity);
    const caps: Cap[] = [
      {
        bytes: limit,
        error: () => new ApiError('body_too_large', `The file may have at most ${limit} bytes.`),
      },
    ];
    const { reservation, project } = identity;
    if (reservation && project.ownerId !== null) {
      const bytes = storageRoutes.affordableBytes(reservation.millicredits);
      caps.push({ bytes, error: outOfCredits });
    }
    const { totalBytes } = await files.totals(project.number);
    caps.push({ bytes: config.quotaBytes - totalBytes, error: files.quotaReached });
    return caps.reduce((least, each) => (each.bytes < least.bytes ? each : least));
  };

  const receive = async (req: IncomingMessage, identity: Identity): Promise<Upload> => {
    const cap = await capOf(identity);
    if (Number(req.headers['content-length'] ?? 0) - formBytes > cap.bytes || cap.bytes <= 0)
      throw cap.error();
    const { number } = identity.project;
    const id = randomUUID();
    const blobKey = `${number}/${id}`;
    let isLeased = false;
    const keep = async (source: AsyncIterable<Buffer>) => {
      await looseBlobs.lease(number, blobKey);
      isLeased = true;
      await store.put(blobKey, source);
    };
    try {
      const received = await receiveForm(req, { cap, idleMs: config.uploadIdleMs, store: keep });
      return { id, blobKey, ...received };
    } catch (error) {
      if (isLeased) await looseBlobs.settle(number, [blobKey]);
      throw error;
    }
  };

  return {
    async receive(req, identity) {
      if (underWay >= config.maxUploads)
        throw new ApiError('overloaded', 'Too many uploads at a time. Try again shortly.', {
          retryAfterSeconds: 2,
        });
      underWay++;
      try {
        return await receive(req, identity);
      } finally {
        underWay--;
      }
    },
    release: (identity, { blobKey }) => looseBlobs.settle(identity.project.number, [blobKey]),
  };
};
