import { ApiError, type StoredFile, type Visibility } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { type Page, type PageQuery, pageOf, positionOf } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { z } from 'zod';
import type { StorageConfig } from './config.ts';
import type { Links } from './links.ts';
import type { LooseBlobs } from './loose-blobs.ts';
import { lockProject } from './removals.ts';
import { ownerOf } from './upload/opened.ts';
import type { ReceivedFile } from './upload/receive-form.ts';
import type { Usage } from './usage.ts';

export interface File {
  id: string;
  ownerId: string | null;
  name: string;
  sizeBytes: number;
  mediaType: string;
  visibility: Visibility;
  /** Null where nobody here has seen all the bytes. */
  sha256: Buffer | null;
  blobKey: string;
  createdAt: Date;
}

interface FileRow {
  id: string;
  owner_id: string | null;
  name: string;
  size_bytes: number;
  media_type: string;
  visibility: Visibility;
  sha256: Buffer | null;
  blob_key: string;
  created_at: Date;
}

export interface Totals {
  totalFiles: number;
  totalBytes: number;
  quotaBytes: number;
}

const columns =
  'id, owner_id, name, size_bytes, media_type, visibility, sha256, blob_key, created_at';
const isUuid = (text: string) => z.uuid().safeParse(text).success;

const fileOf = (row: FileRow): File => ({
  id: row.id,
  ownerId: row.owner_id,
  name: row.name,
  sizeBytes: row.size_bytes,
  mediaType: row.media_type,
  visibility: row.visibility,
  sha256: row.sha256,
  blobKey: row.blob_key,
  createdAt: row.created_at,
});

export const fileNotFound = (): ApiError => new ApiError('not_found', 'There is no such file.');
const quotaReached = (quotaBytes: number) =>
  new ApiError('storage_quota', `The files of this app may have ${quotaBytes} bytes in all.`, {
    hint: 'Delete files that are no longer needed.',
  });

export interface FilesDeps {
  database: Database;
  links: Links;
  looseBlobs: LooseBlobs;
  usage: Usage;
  now: () => number;
  config: Pick<StorageConfig, 'quotaBytes'>;
}

export type Files = ReturnType<typeof createFiles>;

/** What is stored for whom. A file that can be seen always has its blob. */
export const createFiles = ({ database, links, looseBlobs, usage, now, config }: FilesDeps) => {
  const present =
    ({ id: projectId, number: projectNumber }: Identity['project']) =>
    (row: FileRow): StoredFile => ({
      id: row.id,
      url: links.to({ projectId, projectNumber, fileId: row.id, name: row.name }),
      name: row.name,
      size: row.size_bytes,
      type: row.media_type,
      visibility: row.visibility,
      ownerId: row.owner_id,
      createdAt: row.created_at.toISOString(),
    });

  const count = async (projectNumber: number, bytes: number) => {
    const counted = await database.query(
      `UPDATE totals SET files = files + 1, bytes = bytes + $2
        WHERE project_number = $1 AND bytes + $2 <= $3 RETURNING true`,
      [projectNumber, bytes, config.quotaBytes],
    );
    if (counted.length === 0) throw quotaReached(config.quotaBytes);
  };

  const list = async (
    name: string,
    project: Identity['project'],
    query: PageQuery,
    ownerId?: string,
  ): Promise<Page<StoredFile>> => {
    const after = positionOf(name, query.cursor);
    if (after && !isUuid(after.id))
      throw new ApiError('invalid_cursor', '"cursor": not one of this list.');
    const rows = await database.query<FileRow>(
      `SELECT ${columns} FROM files
        WHERE project_number = $1 ${ownerId === undefined ? '' : 'AND owner_id = $5'}
          AND ($2::timestamptz IS NULL OR (created_at, id) < ($2, $3::uuid))
        ORDER BY created_at DESC, id DESC LIMIT $4`,
      [
        ...[project.number, after?.createdAt, after?.id, query.limit + 1],
        ...(ownerId === undefined ? [] : [ownerId]),
      ],
    );
    return pageOf(name, query, rows, present(project));
  };

  const checkOwner = async (projectNumber: number, ownerId: string) => {
    const erased = await database.query(
      'SELECT true FROM erased_users WHERE project_number = $1 AND user_id = $2',
      [projectNumber, ownerId],
    );
    if (erased.length > 0) throw new ApiError('invalid_token', 'This account has been erased.');
  };

  return {
    quotaReached: () => quotaReached(config.quotaBytes),

    async totals(projectNumber: number): Promise<Totals> {
      const [row] = await database.query<{ files: number; bytes: number }>(
        'SELECT files, bytes FROM totals WHERE project_number = $1',
        [projectNumber],
      );
      const { quotaBytes } = config;
      return { totalFiles: row?.files ?? 0, totalBytes: row?.bytes ?? 0, quotaBytes };
    },

    /** Row, usage and blob become a file together. @throws ApiError storage_quota, unavailable */
    create: (
      identity: Identity,
      id: string,
      blobKey: string,
      received: ReceivedFile,
      ownerId = ownerOf(identity),
    ) =>
      database.transaction(async () => {
        const { number } = identity.project;
        await looseBlobs.takeOver(number, blobKey);
        await lockProject(database, number);
        if (ownerId !== null) await checkOwner(number, ownerId);
        await count(number, received.sizeBytes);
        await database.query(
          `INSERT INTO files (project_number, ${columns})
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
          [
            ...[number, id, ownerId, received.name, received.sizeBytes, received.mediaType],
            ...[received.visibility, received.sha256, blobKey, new Date(now())],
          ],
        );
        await usage.record(identity, received.sizeBytes);
      }),

    /** Null for what no id looks like, too. */
    async find(projectNumber: number, id: string): Promise<File | null> {
      if (!isUuid(id)) return null;
      const [row] = await database.query<FileRow>(
        `SELECT ${columns} FROM files WHERE project_number = $1 AND id = $2`,
        [projectNumber, id],
      );
      return row ? fileOf(row) : null;
    },

    mine: (project: Identity['project'], ownerId: string, query: PageQuery) =>
      list('my-files', project, query, ownerId),
    all: (project: Identity['project'], query: PageQuery) => list('files', project, query),
  };
};
