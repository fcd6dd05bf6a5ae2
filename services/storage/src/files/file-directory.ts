import { type FileDirectory, MIB } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { toIdentity } from '@backlot/service';
import { BlobNotFound, type BlobStore } from '../blob-store/blob-store.ts';
import type { Files } from './files.ts';
import type { RecordFiles } from './readers/record-files.ts';

/** As `FileDirectory` promises; a file is held in memory. */
const maxReadBytes = 10 * MIB;

export interface FileDirectoryDeps {
  database: Database;
  files: Files;
  store: BlobStore;
  recordFiles: Pick<RecordFiles, 'mayRead'>;
}

/** Files for other services: described under the rights of the caller for whom they ask. */
export const createFileDirectory = ({
  database,
  files,
  store,
  recordFiles,
}: FileDirectoryDeps): FileDirectory => ({
  describeFiles: ({ fileIds, ...reader }) =>
    database.inProject(reader.project.number, async () => {
      const identity = toIdentity(reader);
      const described = [];
      for (const fileId of fileIds) {
        const file = await files.find(reader.project.number, fileId);
        if (!file || !(await recordFiles.mayRead(identity, file))) continue;
        const { id, name, mediaType: type, sizeBytes: size } = file;
        described.push({ id, name, type, size });
      }
      return described;
    }),

  async readFile(projectNumber, fileId) {
    const file = await database.inProject(projectNumber, () => files.find(projectNumber, fileId));
    if (!file) return null;
    const { blobKey, sizeBytes } = file;
    if (sizeBytes > maxReadBytes)
      throw new RangeError(`A file of ${sizeBytes} bytes is too large.`);
    if (sizeBytes === 0) return Buffer.alloc(0);
    try {
      const bytes = await store.open(blobKey, { start: 0, end: sizeBytes - 1 });
      return Buffer.concat(await bytes.toArray());
    } catch (error) {
      // It has just been deleted.
      if (error instanceof BlobNotFound) return null;
      throw error;
    }
  },
});
