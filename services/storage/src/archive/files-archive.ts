import { randomUUID } from 'node:crypto';
import {
  type ArchivedFile,
  type ArchiveReading,
  archivedPieceBytes,
  archiveLines,
  type FileArchiveDirectory,
} from '@backlot/contract';
import { createQueries, type Database, violatedConstraint } from '@backlot/database';
import {
  createArchivePart,
  invalidArchive,
  readArchiveLines,
  toArchiveLines,
  toOutcome,
} from '@backlot/service';
import type { Selectable } from 'kysely';
import { BlobNotFound, type BlobStore } from '../blob-store/blob-store.ts';
import type { UnclaimedBlobs } from '../blob-store/unclaimed-blobs.ts';
import { cleanFileName } from '../files/file-name.ts';
import type { Quota } from '../files/quota.ts';
import type { File as FileTable, DB as Tables } from '../tables.ts';
import { measureContent } from './measure-content.ts';

const pageRows = 500;

export interface FilesArchiveDeps {
  database: Database;
  store: BlobStore;
  unclaimedBlobs: UnclaimedBlobs;
  quota: Quota;
}

const toLine = (row: Selectable<FileTable>): ArchivedFile => ({
  id: row.id,
  name: row.name,
  type: row.media_type,
  size: row.size_bytes,
  visibility: row.visibility as ArchivedFile['visibility'],
  ownerId: row.owner_id,
  groupId: row.group_id,
  record:
    row.record_collection === null || row.record_id === null
      ? null
      : { collection: row.record_collection, id: row.record_id },
  createdAt: row.created_at.toISOString(),
});

/** @throws ApiError invalid_body */
const readLine = (line: string): ArchivedFile => {
  const [file] = readArchiveLines(archiveLines.file, [line]);
  if (!file) throw invalidArchive('there is no line of the file');
  if (cleanFileName(file.name) !== file.name) throw invalidArchive('"name" is no name of a file');
  return file;
};

/** Files as a project's archive has them: a line each, and what is in it. */
export const createFilesArchive = (deps: FilesArchiveDeps): FileArchiveDirectory => {
  const { database, store, unclaimedBlobs, quota } = deps;
  const queries = createQueries<Tables>(database);

  const read = async ({ project, after }: ArchiveReading) => {
    let files = queries
      .selectFrom('files')
      .selectAll()
      .where('project_number', '=', project.number)
      .orderBy('id')
      .limit(pageRows + 1);
    if (after !== null) files = files.where('id', '>', after);
    return toArchiveLines(await files.execute(), pageRows, toLine, ({ id }) => id);
  };

  const insert = (number: number, file: ArchivedFile, mediaType: string, blobKey: string) =>
    database.transaction(async () => {
      await unclaimedBlobs.claim(number, [blobKey]);
      await queries
        .insertInto('files')
        .values({
          project_number: number,
          id: file.id,
          owner_id: file.ownerId,
          name: file.name,
          size_bytes: file.size,
          media_type: mediaType,
          visibility: file.visibility,
          group_id: file.groupId,
          blob_key: blobKey,
          record_collection: file.record?.collection ?? null,
          record_id: file.record?.id ?? null,
          created_at: new Date(file.createdAt),
        })
        .execute();
      await quota.addFiles(number, [file.size]);
    });

  const take = async (number: number, line: string, content: AsyncIterable<Uint8Array>) => {
    const file = readLine(line);
    await database.inProject(number, () => quota.check(number, file.size));
    const blobKey = `${number}/${randomUUID()}`;
    await database.inProject(number, () => unclaimedBlobs.lease(number, blobKey));
    try {
      const measured = measureContent(content, file.size);
      if (file.size > 0) await store.put(blobKey, measured.pass());
      const mediaType = await measured.mediaType();
      await database.inProject(number, () => insert(number, file, mediaType, blobKey));
    } catch (error) {
      await database.inProject(number, () => unclaimedBlobs.release(number, blobKey));
      if (violatedConstraint(error) !== 'files_pkey') throw error;
      throw invalidArchive('two files have one id');
    }
  };

  const findBlob = ({ number }: { number: number }, fileId: string) =>
    database.inProject(number, () =>
      queries
        .selectFrom('files')
        .select(['blob_key', 'size_bytes'])
        .where('project_number', '=', number)
        .where('id', '=', fileId)
        .executeTakeFirst(),
    );

  return {
    readLines: createArchivePart(database, {
      files: { read, take: async () => Promise.reject(invalidArchive('files come by themselves')) },
    }).readLines,

    async readContent({ project, fileId, start }) {
      const found = await findBlob(project, fileId);
      if (!found) return null;
      const end = Math.min(start + archivedPieceBytes, found.size_bytes) - 1;
      if (end < start) return new Uint8Array();
      try {
        const bytes = await store.open(found.blob_key, { start, end });
        return Buffer.concat(await bytes.toArray());
      } catch (error) {
        // It has just been deleted.
        if (error instanceof BlobNotFound) return null;
        throw error;
      }
    },

    takeContent: ({ project, line }, content) =>
      toOutcome(() => take(project.number, line, content)),
  };
};
