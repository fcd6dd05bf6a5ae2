import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { toRequester } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';
import type { BlobStore } from '../blob-store/blob-store.ts';
import type { UnclaimedBlobs } from '../blob-store/unclaimed-blobs.ts';
import type { StorageConfig } from '../config.ts';
import type { ReceivedFile } from '../files/file.ts';
import type { Quota } from '../files/quota.ts';
import type { RecordFiles } from '../files/readers/record-files.ts';
import { checkType, findUploadLimits } from '../files/upload-limits.ts';
import type { TransferPlace, TransferPlaces } from '../transfer-places.ts';
import { receiveForm } from './receive-form.ts';

/** Its bytes are in the store, and no file has them yet. */
export interface Upload extends ReceivedFile {
  id: string;
  blobKey: string;
  /** How many bytes its owner may keep in all; undefined where that is not bounded. */
  maxKeptBytes?: number | undefined;
}

export interface UploadsDeps {
  store: BlobStore;
  unclaimedBlobs: UnclaimedBlobs;
  quota: Quota;
  places: TransferPlaces;
  recordFiles: Pick<RecordFiles, 'resolve'>;
  config: Pick<StorageConfig, 'uploadIdleMs'>;
}

export interface Uploads {
  /** @throws ApiError body_too_large, out_of_credits, storage_quota, overloaded, invalid_body … */
  receive(req: IncomingMessage, identity: Identity): Promise<Upload>;
  /** Removes the bytes where no file has them. */
  release(identity: Identity, upload: Upload): Promise<void>;
}

/** What a form may have around its file, where a Content-Length is compared with a limit. */
const formBytes = 1024 * 1024;

export const createUploads = ({
  store,
  unclaimedBlobs,
  quota,
  places,
  recordFiles,
  config,
}: UploadsDeps): Uploads => {
  const receive = async (
    req: IncomingMessage,
    identity: Identity,
    place: TransferPlace,
  ): Promise<Upload> => {
    const limit = await quota.sizeLimit(identity);
    if (Number(req.headers['content-length'] ?? 0) - formBytes > limit.bytes || limit.bytes <= 0)
      throw limit.error();
    const { number } = identity.project;
    const id = randomUUID();
    const blobKey = `${number}/${id}`;
    let isLeased = false;
    const storeFile = async (source: AsyncIterable<Buffer>) => {
      await unclaimedBlobs.lease(number, blobKey);
      isLeased = true;
      await store.put(blobKey, source);
    };
    try {
      const received = await receiveForm(req, {
        limit,
        place,
        idleMs: config.uploadIdleMs,
        resolveAudience: (wanted) => recordFiles.resolve(identity, wanted),
        store: storeFile,
      });
      const callerLimits = findUploadLimits(identity);
      checkType(identity, callerLimits, received.mediaType);
      return { id, blobKey, ...received, maxKeptBytes: callerLimits.perUser };
    } catch (error) {
      if (isLeased) await unclaimedBlobs.release(number, blobKey);
      throw error;
    }
  };

  return {
    receive: (req, identity) =>
      places.run(toRequester(identity), (place) => receive(req, identity, place)),
    release: (identity, { blobKey }) => unclaimedBlobs.release(identity.project.number, blobKey),
  };
};
