import { ApiError, storageRoutes } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { coveredQuantity, notCovered } from '@backlot/service';
import type { UnclaimedBlobs } from '../blob-store/unclaimed-blobs.ts';
import type { StorageConfig } from '../config.ts';
import type { DB as Tables } from '../tables.ts';
import { uploaderId } from './file.ts';
import { findUploadLimits, keepsTooMuch, tooLarge } from './upload-limits.ts';

export interface Totals {
  totalFiles: number;
  totalBytes: number;
  quotaBytes: number;
}

/** How large a file may be, and what is answered past that. */
export interface SizeLimit {
  bytes: number;
  error(): ApiError;
}

export type Quota = ReturnType<typeof createQuota>;

const uploadLimit = ({ settings }: Identity['project']): SizeLimit => {
  const bytes =
    typeof settings.maxUploadBytes === 'number'
      ? settings.maxUploadBytes
      : storageRoutes.defaultUploadBytes;
  const message = `The file may have at most ${bytes} bytes.`;
  return { bytes, error: () => new ApiError('body_too_large', message) };
};

const creditLimit = (identity: Identity): SizeLimit => ({
  bytes: coveredQuantity(identity, storageRoutes.uploadPrice),
  error: () =>
    notCovered(identity, 'The credits left do not cover a file of this size.', Date.now()),
});

const totalsSql = `
  SELECT files, bytes, image_bytes,
         (SELECT sum(received_bytes) FROM resumable_uploads
           WHERE project_number = $1 AND finished_at IS NULL)
    FROM (SELECT) one LEFT JOIN totals ON project_number = $1`;

const keptSql =
  'SELECT sum(size_bytes)::int8 FROM files WHERE project_number = $1 AND owner_id = $2';

const addFilesSql = `
  INSERT INTO totals (project_number, files, bytes) VALUES ($1, $2, $3)
  ON CONFLICT (project_number)
    DO UPDATE SET files = totals.files + excluded.files, bytes = totals.bytes + excluded.bytes`;

const sum = (sizes: readonly number[]) => sizes.reduce((total, bytes) => total + bytes, 0);

/** Images that are dropped by one statement. */
const imageBatch = 500;

/**
 * How much the files of each project and the images made from them add up to, and how much may be
 * added. Files go first: images are dropped, the oldest first, where room is needed.
 */
export const createQuota = (
  database: Database,
  unclaimedBlobs: Pick<UnclaimedBlobs, 'scheduleRemoval'>,
  { quotaBytes }: Pick<StorageConfig, 'quotaBytes'>,
) => {
  const queries = createQueries<Tables>(database);
  const exceeded = () =>
    new ApiError('storage_quota', `The files of this app may have ${quotaBytes} bytes in all.`, {
      hint: 'Delete files that are no longer needed.',
    });

  const read = async (projectNumber: number) => {
    const [row = []] = await database.read('storage_totals', totalsSql, [projectNumber]);
    const [files = 0, fileBytes = 0, imageBytes = 0, partBytes = 0] = row.map(Number);
    return {
      files,
      fileBytes,
      /** Of files, and of resumable uploads that are no file yet. */
      bytes: fileBytes + partBytes,
      imageBytes,
    };
  };

  const readKept = async (projectNumber: number, userId: string): Promise<number> => {
    const [row = []] = await database.read('storage_kept_by_user', keptSql, [
      projectNumber,
      userId,
    ]);
    return Number(row[0] ?? 0);
  };

  const leftBeside = (takenBytes: number): SizeLimit => ({
    bytes: quotaBytes - takenBytes,
    error: exceeded,
  });

  /** What the project's setting `storage` leaves to a caller. */
  const callerLimits = async (identity: Identity): Promise<SizeLimit[]> => {
    const { maxBytes, perUser } = findUploadLimits(identity);
    const userId = uploaderId(identity);
    const keptBytes =
      perUser === undefined || userId === null
        ? 0
        : await readKept(identity.project.number, userId);
    return [
      ...(maxBytes === undefined
        ? []
        : [{ bytes: maxBytes, error: () => tooLarge(identity, maxBytes) }]),
      ...(perUser === undefined || userId === null
        ? []
        : [{ bytes: perUser - keptBytes, error: () => keepsTooMuch(identity, perUser) }]),
    ];
  };

  const leastLimit = async (identity: Identity, takenBytes: number): Promise<SizeLimit> =>
    [
      uploadLimit(identity.project),
      creditLimit(identity),
      leftBeside(takenBytes),
      ...(await callerLimits(identity)),
    ].reduce((least, limit) => (limit.bytes < least.bytes ? limit : least));

  /** Until the end of the transaction: what changes a project's files runs one after the other. */
  const lock = async (projectNumber: number): Promise<void> => {
    await database.query(
      `INSERT INTO totals (project_number) VALUES ($1)
       ON CONFLICT (project_number) DO UPDATE SET files = totals.files`,
      [projectNumber],
    );
  };

  const changeImageBytes = (projectNumber: number, bytes: number) =>
    database.query('UPDATE totals SET image_bytes = image_bytes + $2 WHERE project_number = $1', [
      projectNumber,
      bytes,
    ]);

  /** Drops the oldest images until they have given up so many bytes. Needs the lock. */
  const dropImages = async (projectNumber: number, bytes: number): Promise<void> => {
    let missingBytes = bytes;
    while (missingBytes > 0) {
      const dropped = await database.query<{ blob_key: string; size_bytes: number }>(
        `WITH oldest AS (
           SELECT blob_key, size_bytes, created_at FROM images WHERE project_number = $1
            ORDER BY created_at, blob_key LIMIT ${imageBatch}
         ), counted AS (
           SELECT blob_key,
                  sum(size_bytes) OVER (ORDER BY created_at, blob_key) - size_bytes AS bytes_before
             FROM oldest
         )
         DELETE FROM images
          WHERE blob_key IN (SELECT blob_key FROM counted WHERE bytes_before < $2)
         RETURNING blob_key, size_bytes`,
        [projectNumber, missingBytes],
      );
      if (dropped.length === 0) return;
      const droppedBytes = dropped.reduce((sum, image) => sum + image.size_bytes, 0);
      missingBytes -= droppedBytes;
      await changeImageBytes(projectNumber, -droppedBytes);
      const keys = dropped.map((image) => image.blob_key);
      await unclaimedBlobs.scheduleRemoval(projectNumber, keys);
    }
  };

  return {
    exceeded,
    lock,
    dropImages,

    async totals(projectNumber: number): Promise<Totals> {
      const { files, bytes, imageBytes } = await read(projectNumber);
      return { totalFiles: files, totalBytes: bytes + imageBytes, quotaBytes };
    },

    /**
     * In the transaction that makes the files: locks the project until its end. Answers how many bytes of
     * images have to give way. @throws ApiError storage_quota
     */
    async addFiles(projectNumber: number, sizes: readonly number[]): Promise<number> {
      // They leave together, and the second one reads under the lock that the first one takes.
      const [, { bytes, imageBytes }] = await Promise.all([
        database.named('storage_add_files', addFilesSql, [projectNumber, sizes.length, sum(sizes)]),
        read(projectNumber),
      ]);
      if (bytes > quotaBytes) throw exceeded();
      return bytes + imageBytes - quotaBytes;
    },

    /**
     * In the transaction that stores the image, and has the lock. False where there is no room beside
     * the files.
     */
    async addImage(projectNumber: number, sizeBytes: number): Promise<boolean> {
      const { bytes, imageBytes } = await read(projectNumber);
      if (bytes + sizeBytes > quotaBytes) return false;
      await dropImages(projectNumber, bytes + imageBytes + sizeBytes - quotaBytes);
      await changeImageBytes(projectNumber, sizeBytes);
      return true;
    },

    /** In the transaction that deletes the images, and has the lock. */
    async removeImages(projectNumber: number, sizes: readonly number[]): Promise<void> {
      if (sizes.length === 0) return;
      await changeImageBytes(projectNumber, -sum(sizes));
    },

    /** In the transaction that deletes the files, and has the lock. */
    async removeFiles(projectNumber: number, sizes: readonly number[]): Promise<void> {
      await database.query(
        'UPDATE totals SET files = files - $2, bytes = bytes - $3 WHERE project_number = $1',
        [projectNumber, sizes.length, sum(sizes)],
      );
    },

    async removeProject(projectNumber: number): Promise<void> {
      await queries.deleteFrom('totals').where('project_number', '=', projectNumber).execute();
    },

    /** Drops images where it needs their room. @param moreBytes than the project has. @throws ApiError storage_quota */
    async check(projectNumber: number, moreBytes: number): Promise<void> {
      const { bytes, imageBytes } = await read(projectNumber);
      if (bytes + moreBytes > quotaBytes) throw exceeded();
      if (bytes + imageBytes + moreBytes <= quotaBytes) return;
      await database.transaction(async () => {
        await lock(projectNumber);
        const latest = await read(projectNumber);
        await dropImages(projectNumber, latest.bytes + latest.imageBytes + moreBytes - quotaBytes);
      });
    },

    /** Of the quota; images would give way. */
    left: async (projectNumber: number): Promise<SizeLimit> =>
      leftBeside((await read(projectNumber)).bytes),

    /** The project's limit, what was reserved for the call, or what is left of the quota: the least. */
    async sizeLimit(identity: Identity): Promise<SizeLimit> {
      return leastLimit(identity, (await read(identity.project.number)).bytes);
    },

    /** For a resumable upload as a whole, of which each part is checked for itself. */
    async resumableLimit(identity: Identity): Promise<SizeLimit> {
      return leastLimit(identity, (await read(identity.project.number)).fileBytes);
    },
  };
};
