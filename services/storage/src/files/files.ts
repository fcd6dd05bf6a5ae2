import { ApiError, isUuid, type StoredFile, type Visibility } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { type Page, type PageQuery, presentPage, readPosition } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { RecordUsage } from '@backlot/service';
import type { UnclaimedBlobs } from '../blob-store/unclaimed-blobs.ts';
import type { File as FileRow, DB as Tables } from '../tables.ts';
import type { ReceivedFile } from '../upload/receive-form.ts';
import { type File, uploaderId } from './file.ts';
import type { Links } from './links.ts';
import type { Quota } from './quota.ts';

const columns = [
  ...(['id', 'owner_id', 'name', 'size_bytes', 'media_type', 'visibility'] as const),
  ...(['sha256', 'blob_key', 'created_at'] as const),
] as const;
type Row = Pick<FileRow, (typeof columns)[number]>;

const toFile = (row: Row): File => ({
  id: row.id,
  ownerId: row.owner_id,
  name: row.name,
  sizeBytes: row.size_bytes,
  mediaType: row.media_type,
  visibility: row.visibility as Visibility,
  sha256: row.sha256,
  blobKey: row.blob_key,
  createdAt: row.created_at,
});

export interface FilesDeps {
  database: Database;
  links: Links;
  unclaimedBlobs: UnclaimedBlobs;
  recordUsage: RecordUsage;
  quota: Quota;
  now: () => number;
}

export type Files = ReturnType<typeof createFiles>;

/** A file that can be seen always has its blob. */
export const createFiles = ({
  database,
  links,
  unclaimedBlobs,
  recordUsage,
  quota,
  now,
}: FilesDeps) => {
  const queries = createQueries<Tables>(database);
  const present =
    ({ id: projectId, number: projectNumber }: Identity['project']) =>
    (row: Row): StoredFile => ({
      id: row.id,
      url: links.to({ projectId, projectNumber, fileId: row.id, name: row.name }),
      name: row.name,
      size: row.size_bytes,
      type: row.media_type,
      visibility: row.visibility as Visibility,
      ownerId: row.owner_id,
      createdAt: row.created_at.toISOString(),
    });

  const list = async (
    name: string,
    project: Identity['project'],
    query: PageQuery,
    ownerId?: string,
  ): Promise<Page<StoredFile>> => {
    const after = readPosition(name, query.cursor);
    let files = queries
      .selectFrom('files')
      .select(columns)
      .where('project_number', '=', project.number)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(query.limit + 1);
    if (ownerId !== undefined) files = files.where('owner_id', '=', ownerId);
    if (after)
      files = files.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('created_at', 'id'), '<', tuple(after.createdAt, after.id)),
      );
    const rows = await files.execute();
    return presentPage(name, query, rows, present(project));
  };

  const checkOwner = async (projectNumber: number, ownerId: string) => {
    const erased = await queries
      .selectFrom('erased_users')
      .select('user_id')
      .where('project_number', '=', projectNumber)
      .where('user_id', '=', ownerId)
      .executeTakeFirst();
    if (erased) throw new ApiError('invalid_token', 'This account has been erased.');
  };

  return {
    /** In one transaction: claims the blob, counts the quota, stores row and usage. @throws ApiError storage_quota, unavailable */
    create: (
      identity: Identity,
      id: string,
      blobKey: string,
      received: ReceivedFile,
      ownerId = uploaderId(identity),
    ) =>
      database.transaction(async () => {
        const { number } = identity.project;
        await unclaimedBlobs.claim(number, blobKey);
        await quota.lock(number);
        if (ownerId !== null) await checkOwner(number, ownerId);
        await quota.addFile(number, received.sizeBytes);
        await queries
          .insertInto('files')
          .values({
            project_number: number,
            id,
            owner_id: ownerId,
            name: received.name,
            size_bytes: received.sizeBytes,
            media_type: received.mediaType,
            visibility: received.visibility,
            sha256: received.sha256,
            blob_key: blobKey,
            created_at: new Date(now()),
          })
          .execute();
        await recordUsage(identity, received.sizeBytes);
      }),

    async find(projectNumber: number, id: string): Promise<File | null> {
      if (!isUuid(id)) return null;
      const row = await queries
        .selectFrom('files')
        .select(columns)
        .where('project_number', '=', projectNumber)
        .where('id', '=', id)
        .executeTakeFirst();
      return row ? toFile(row) : null;
    },

    listOwn: (project: Identity['project'], ownerId: string, query: PageQuery) =>
      list('my-files', project, query, ownerId),
    listAll: (project: Identity['project'], query: PageQuery) => list('files', project, query),
  };
};
