import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Identity } from '@backlot/identity';
import type { BlobStore } from '../blob-store/blob-store.ts';
import type { StorageConfig } from '../config.ts';
import type { LooseBlobs } from '../loose-blobs.ts';
import type { Caps } from './caps.ts';
import { type ReceivedFile, receiveForm } from './receive-form.ts';
import type { Slots } from './slots.ts';

/** A file whose bytes are in the store, and which nobody can see yet. */
export interface Upload extends ReceivedFile {
  id: string;
  blobKey: string;
}

export interface UploadsDeps {
  store: BlobStore;
  looseBlobs: LooseBlobs;
  caps: Caps;
  slots: Slots;
  config: Pick<StorageConfig, 'uploadIdleMs'>;
}

export interface Uploads {
  /** @throws ApiError body_too_large, out_of_credits, storage_quota, overloaded, invalid_body … */
  receive(req: IncomingMessage, identity: Identity): Promise<Upload>;
  /** Once a file has it or has not: what is left of it goes away. */
  release(identity: Identity, upload: Upload): Promise<void>;
}

/** What a form takes around its file, at least as long as it is stated. */
const formBytes = 1024 * 1024;

export const createUploads = ({ store, looseBlobs, caps, slots, config }: UploadsDeps): Uploads => {
  const receive = async (req: IncomingMessage, identity: Identity): Promise<Upload> => {
    const cap = await caps.of(identity);
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
    receive: (req, identity) => slots.run(identity.project.number, () => receive(req, identity)),
    release: (identity, { blobKey }) => looseBlobs.settle(identity.project.number, [blobKey]),
  };
};
