import type { BlobStore } from '../blob-store/blob-store.ts';
import type { StorageConfig } from '../config.ts';
import type { AppOrigins } from '../files/app-origins.ts';
import type { FileLists } from '../files/file-lists.ts';
import type { Files } from '../files/files.ts';
import type { Links } from '../files/links.ts';
import type { NewFiles } from '../files/new-files.ts';
import type { Quota } from '../files/quota.ts';
import type { RecordFiles } from '../files/readers/record-files.ts';
import type { Signers } from '../files/readers/signers.ts';
import type { Removals } from '../files/removals.ts';
import type { Images } from '../images/images.ts';
import type { ResumableUploads } from '../resumable/resumable-uploads.ts';
import type { TransferPlaces } from '../transfer-places.ts';
import type { DirectUploads } from '../upload/direct-uploads.ts';
import type { Uploads } from '../upload/uploads.ts';

export interface Features {
  files: Files;
  fileLists: FileLists;
  quota: Quota;
  removals: Removals;
  images: Images;
  uploads: Uploads;
  directUploads: DirectUploads;
  resumableUploads: ResumableUploads;
  newFiles: NewFiles;
  links: Links;
  signers: Signers;
  recordFiles: RecordFiles;
  findAppOrigins: AppOrigins;
  store: BlobStore;
  downloadPlaces: TransferPlaces;
  config: Pick<StorageConfig, 'redirects' | 'uploadIdleMs'>;
  /** Epoch milliseconds. */
  now: () => number;
}
