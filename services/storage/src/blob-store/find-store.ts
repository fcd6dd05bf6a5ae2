import { constants } from 'node:fs';
import { access, mkdir, statfs } from 'node:fs/promises';
import { type Finding, shareLook, withTimeout } from '@backlot/http';
import { BlobNotFound, type BlobStore } from './blob-store.ts';

/** A look at S3 is a request that is paid for. */
const lookEveryMs = 5000;
/** The gateway waits for two seconds. */
const lookTimeoutMs = 1000;

const name = 'files';
/** No blob's. */
const key = 'health';

const lookAtFolder = async (folder: string): Promise<Finding> => {
  await mkdir(folder, { recursive: true });
  await access(folder, constants.W_OK);
  const { bavail } = await statfs(folder);
  return bavail > 0 ? { name, state: 'works' } : { name, state: 'missing', reason: 'disk_full' };
};

const ask = async (store: BlobStore): Promise<Finding> => {
  await store.sizeBytes(key).catch((error: unknown) => {
    if (!(error instanceof BlobNotFound)) throw error;
  });
  return { name, state: 'works' };
};

/** Whether files can be read and written. */
export const createFindStore = (store: BlobStore): (() => Promise<Finding>) => {
  const { folder } = store;
  const away: Finding = { name, state: 'missing', reason: 'out_of_reach' };
  return shareLook(
    async () => {
      const look = () => (folder === undefined ? ask(store) : lookAtFolder(folder));
      return (await withTimeout(look, lookTimeoutMs).catch(() => undefined)) ?? away;
    },
    performance.now.bind(performance),
    lookEveryMs,
  );
};
