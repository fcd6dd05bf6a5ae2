import { ApiError, isUuid } from '@backlot/contract';
import { createQueries, type Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import type { NoteFindings, RecordUsage, TellApp } from '@backlot/service';
import type { UnclaimedBlobs } from '../blob-store/unclaimed-blobs.ts';
import type { DB as Tables } from '../tables.ts';
import type { File, ReceivedFile } from './file.ts';
import { findFileNameSigns } from './file-name.ts';
import { fileColumns, toFile } from './file-row.ts';
import type { Quota } from './quota.ts';
import { checkGroup, keepsTooMuch } from './upload-limits.ts';

const insertSql = `
  INSERT INTO files (project_number, id, owner_id, name, size_bytes, media_type, visibility, group_id,
                     blob_key, record_collection, record_id, created_at)
  SELECT $1, file.*, $2
    FROM unnest($3::uuid[], $4::uuid[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::uuid[],
                $10::text[], $11::int8[], $12::uuid[]) file`;

const keptSql = `
  SELECT owner_id, sum(size_bytes)::int8 AS bytes FROM files
   WHERE project_number = $1 AND owner_id = ANY($2) GROUP BY owner_id`;

/** Accounts that are gone, and whose their files are now, if anybody's. */
const goneSql = `
  SELECT gone.user_id, CASE WHEN heir.user_id IS NULL THEN gone.heir_id END AS heir_id
    FROM erased_users gone
    LEFT JOIN erased_users heir ON heir.project_number = $1 AND heir.user_id = gone.heir_id
   WHERE gone.project_number = $1 AND gone.user_id = ANY($2)`;

/** Its bytes are in the store, and leased. */
export interface NewFile {
  identity: Identity;
  /** Of whom it is; null where it is the project's. */
  ownerId: string | null;
  id: string;
  blobKey: string;
  received: ReceivedFile;
  /** How many bytes its owner may keep in all; undefined where that is not bounded. */
  maxKeptBytes?: number | undefined;
}

export interface FilesDeps {
  database: Database;
  unclaimedBlobs: UnclaimedBlobs;
  recordUsage: RecordUsage;
  tellApp: TellApp;
  quota: Quota;
  findings: Pick<NoteFindings, 'note'>;
  now: () => number;
}

export type Files = ReturnType<typeof createFiles>;

/** A file that can be seen always has its blob. */
export const createFiles = ({
  database,
  unclaimedBlobs,
  recordUsage,
  tellApp,
  quota,
  findings,
  now,
}: FilesDeps) => {
  const queries = createQueries<Tables>(database);
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
      files.map(({ received: { record } }) => record?.collectionId ?? null),
      files.map(({ received: { record } }) => record?.recordId ?? null),
    ]);
  };

  /** Sees what was kept before the project's lock was taken, and these files. */
  const checkKept = async (projectNumber: number, files: readonly NewFile[]) => {
    const bounded = files.filter(
      ({ ownerId, maxKeptBytes }) => ownerId !== null && maxKeptBytes !== undefined,
    );
    if (bounded.length === 0) return;
    const kept = await database.named<{ owner_id: string; bytes: number }>(
      'storage_kept_bytes',
      keptSql,
      [projectNumber, [...new Set(bounded.map(({ ownerId }) => ownerId))]],
    );
    for (const { ownerId, identity, maxKeptBytes = 0 } of bounded) {
      const { bytes = 0 } = kept.find(({ owner_id: id }) => id === ownerId) ?? {};
      if (bytes > maxKeptBytes) throw keepsTooMuch(identity, maxKeptBytes);
    }
  };

  const tellCreated = (projectNumber: number, { id, ownerId, received }: NewFile) => {
    const { name, sizeBytes: size, mediaType: type, visibility } = received;
    return tellApp({
      projectNumber,
      type: 'file.created',
      orderKey: `file/${id}`,
      data: { file: { id, name, size, type, visibility, ownerId } },
      userId: ownerId,
    });
  };

  const noteSigns = (projectNumber: number, { id, received }: NewFile) =>
    findings.note({
      projectNumber,
      kind: 'fileNames',
      signs: findFileNameSigns(received.name),
      examples: [id],
    });

  /** Behind their rows. Sees who was erased or merged before the project's lock was taken. */
  const settleOwners = async (projectNumber: number, files: readonly NewFile[]) => {
    const ownerIds = [...new Set(files.map(({ ownerId }) => ownerId))].filter((id) => id !== null);
    if (ownerIds.length === 0) return;
    const gone = await database.named<{ user_id: string; heir_id: string | null }>(
      'storage_gone_users',
      goneSql,
      [projectNumber, ownerIds],
    );
    for (const { user_id: userId, heir_id: heirId } of gone) {
      if (heirId === null) throw new ApiError('invalid_token', 'This account has been erased.');
      await queries
        .updateTable('files')
        .set({ owner_id: heirId })
        .where('project_number', '=', projectNumber)
        .where('owner_id', '=', userId)
        .execute();
    }
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
          settleOwners(number, files),
          checkKept(number, files),
          Promise.all(files.map((file) => tellCreated(number, file))),
        ]);
        await quota.dropImages(number, imageBytes);
        database.afterCommit(() => {
          for (const file of files) noteSigns(number, file);
        });
      }),

    async find(projectNumber: number, id: string): Promise<File | null> {
      if (!isUuid(id)) return null;
      const row = await queries
        .selectFrom('files')
        .select(fileColumns)
        .where('project_number', '=', projectNumber)
        .where('id', '=', id)
        .executeTakeFirst();
      return row ? toFile(row) : null;
    },

    /** Opens a file to those who read the record, or to nobody else. Null where the file is gone. */
    async attach(
      projectNumber: number,
      id: string,
      { visibility, record }: Pick<File, 'visibility' | 'record'>,
    ): Promise<File | null> {
      const row = await queries
        .updateTable('files')
        .set({
          visibility,
          record_collection: record?.collectionId ?? null,
          record_id: record?.recordId ?? null,
        })
        .where('project_number', '=', projectNumber)
        .where('id', '=', id)
        .returning(fileColumns)
        .executeTakeFirst();
      return row ? toFile(row) : null;
    },
  };
};
