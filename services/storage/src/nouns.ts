import type { BlobStore } from './blob-store/blob-store.ts';
import type { StorageConfig } from './config.ts';
import type { Files } from './files.ts';
import type { Images } from './images/images.ts';
import type { Links } from './links.ts';
import type { Removals } from './removals.ts';
import type { ResumableUploads } from './resumable/resumable-uploads.ts';
import type { DirectUploads } from './upload/direct-uploads.ts';
import type { Uploads } from './upload/uploads.ts';

/** What the routes work with. */
export interface Nouns {
  files: Files;
  removals: Removals;
  images: Images;
  uploads: Uploads;
  directUploads: DirectUploads;
  resumableUploads: ResumableUploads;
  links: Links;
  store: BlobStore;
  config: Pick<StorageConfig, 'redirects' | 'uploadIdleMs'>;
  /** Epoch milliseconds. */
  now: () => number;
}
