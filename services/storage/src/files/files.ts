import { ApiError, isUuid, type StoredFile, type Visibility } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import { type PageQuery, type Position, presentPage, readPosition } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import type { RecordUsage } from '@backlot/service';
import type { UnclaimedBlobs } from '../blob-store/unclaimed-blobs.ts';
import type { File as FileRow, DB as Tables } from '../tables.ts';
import { checkGroup, type File, type ReceivedFile } from './file.ts';
import type { Links } from './links.ts';
import type { Quota } from './quota.ts';

const columns = [
  ...(['id', 'owner_id', 'name', 'size_bytes', 'media_type', 'visibility'] as const),
  ...(['group_id', 'blob_key', 'created_at'] as const),
] as const;
type Row = Pick<FileRow, (typeof columns)[number]>;

const insertSql = `
  INSERT INTO files (project_number, id, owner_id, name, size_bytes, media_type, visibility, group_id,
                     blob_key, created_at)
  SELECT $1, file.*, $2
    FROM unnest($3::uuid[], $4::uuid[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::uuid[],
                $10::text[]) file`;

const erasedSql =
  'SELECT true FROM erased_users WHERE project_number = $1 AND user_id = ANY($2) LIMIT 1';

const toFile = (row: Row): File => ({
  id: row.id,
  ownerId: row.owner_id,
  name: row.name,
  sizeBytes: row.size_bytes,
  mediaType: row.media_type,
  visibility: row.visibility as Visibility,
  groupId: row.group_id,
  blobKey: row.blob_key,
  createdAt: row.created_at,
});

/** Its bytes are in the store, and leased. */
export interface NewFile {
  identity: Identity;
  /** Of whom it is; null where it is the project's. */
  ownerId: string | null;
  id: string;
  blobKey: string;
  received: ReceivedFile;
}

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
      groupId: row.group_id,
      createdAt: row.created_at.toISOString(),
    });

  const newest = ({ number }: Identity['project'], limit: number, after: Position | undefined) => {
    const files = queries
      .selectFrom('files')
      .select(columns)
      .where('project_number', '=', number)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit + 1);
    return after
      ? files.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('created_at', 'id'), '<', tuple(after.createdAt, after.id)),
        )
      : files;
  };

  const insert = (projectNumber: number, files: readonly NewFile[]) => {
    const received = <Field extends keyof ReceivedFile>(field: Field) =>
      files.map((file) => file.received[field]);
    return database.named('storage_insert_files', insertSql, [
      projectNumber,
      new Date(now()),
      files.map(({ id }) => id),
      files.map(({ ownerId }) => ownerId),
      received('name'),
      received('sizeBytes'),
      received('mediaType'),
      received('visibility'),
      received('groupId'),
      files.map(({ blobKey }) => blobKey),
    ]);
  };

  /** Sees who was erased before the project's lock was taken. */
  const checkOwners = async (projectNumber: number, files: readonly NewFile[]) => {
    const ownerIds = [...new Set(files.map(({ ownerId }) => ownerId))].filter((id) => id !== null);
    if (ownerIds.length === 0) return;
    const [erased] = await database.named('storage_erased_user', erasedSql, [
      projectNumber,
      ownerIds,
    ]);
    if (erased) throw new ApiError('invalid_token', 'This account has been erased.');
  };

  return {
    /**
     * Files of one project, in one transaction: claims the blobs, counts the quota, stores rows and usage.
     * @throws ApiError storage_quota, unavailable, invalid_token, forbidden: then none of them is there
     */
    create: (
      { number }: Pick<Identity['project'], 'number'>,
      files: readonly NewFile[],
    ): Promise<void> =>
      database.transaction(async () => {
        for (const { ownerId, identity, received } of files)
          if (ownerId !== null) checkGroup(identity, received.groupId);
        const blobKeys = files.map(({ blobKey }) => blobKey);
        const sizes = files.map(({ received }) => received.sizeBytes);
        // They leave together, so that others wait for the project's lock as short as can be.
        const [, , , imageBytes] = await Promise.all([
          unclaimedBlobs.claim(number, blobKeys),
          insert(number, files),
          Promise.all(files.map((file) => recordUsage(file.identity, file.received.sizeBytes))),
          quota.addFiles(number, sizes),
          checkOwners(number, files),
        ]);
        await quota.dropImages(number, imageBytes);
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

    /** What the caller has uploaded, without that of groups which they have left. */
    async listOwn({ project, userId, groups = [] }: Identity, query: PageQuery) {
      const rows = await newest(project, query.limit, readPosition('my-files', query.cursor))
        .where('owner_id', '=', userId)
        .where(({ eb, or, fn, val }) =>
          or([
            eb('group_id', 'is', null),
            eb('visibility', '=', 'public'),
            eb('group_id', '=', fn.any(val(groups.map(({ id }) => id)))),
          ]),
        )
        .execute();
      return presentPage('my-files', query, rows, present(project));
    },

    /** Of the project, or of a group in it. */
    async listAll(project: Identity['project'], query: PageQuery & { group?: string | undefined }) {
      const name = query.group === undefined ? 'files' : 'group-files';
      let files = newest(project, query.limit, readPosition(name, query.cursor));
      if (query.group !== undefined) files = files.where('group_id', '=', query.group);
      return presentPage(name, query, await files.execute(), present(project));
    },
  };
};
