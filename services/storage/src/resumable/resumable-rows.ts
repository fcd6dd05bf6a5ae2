import { isUuid, type Visibility } from '@backlot/contract';
import { createQueries, type Database, deleteExpired } from '@backlot/database';
import type { Identity, Reservation } from '@backlot/identity';
import type { Selectable } from 'kysely';
import type { Notes } from '../blob-store/blob-store.ts';
import type { Audience } from '../files/audience.ts';
import { uploaderId } from '../files/file.ts';
import { toRecordPlace } from '../files/file-row.ts';
import type { DB as Tables } from '../tables.ts';
import { openedFrom, uploadNotFound } from '../upload/open-uploads.ts';
import type { NewUpload } from './tus-headers.ts';

/** One that its caller may open. */
export type OpenedUpload = Omit<NewUpload, keyof Audience> & Audience;

/** The file that it becomes has its id. */
export interface ResumableUpload extends OpenedUpload {
  id: string;
  blobKey: string;
  /** The user who opened it, and will own the file. */
  ownerId: string | null;
  openedFrom: Buffer | null;
  /** The secret key with which it was opened. */
  openedWith: string | null;
  expiresAt: Date;
  isFinished: boolean;
  /** Without those of a call that still sends. */
  receivedBytes: number;
  /** For the call that may finish it; null where it is free. */
  reservation: Reservation | null;
}

type Row = Selectable<Tables['resumable_uploads']>;

export const blobKeyFor = (projectNumber: number, id: string) => `${projectNumber}/${id}`;
const parseBlobKey = (key: string) => {
  const [projectNumber, id = ''] = key.split('/');
  return { projectNumber: Number(projectNumber), id };
};

const toResumableUpload = (row: Row): ResumableUpload => ({
  id: row.id,
  blobKey: blobKeyFor(row.project_number, row.id),
  ownerId: row.owner_id,
  openedFrom: row.opened_from,
  openedWith: row.opened_with,
  name: row.name,
  visibility: row.visibility as Visibility,
  groupId: row.group_id,
  record: toRecordPlace(row),
  sizeBytes: row.size_bytes,
  metadata: row.metadata,
  expiresAt: row.expires_at,
  isFinished: row.finished_at !== null,
  receivedBytes: row.received_bytes,
  reservation:
    row.call_id !== null && row.reserved_millicredits !== null && row.millicredits_per_unit !== null
      ? {
          callId: row.call_id,
          millicredits: row.reserved_millicredits,
          millicreditsPerUnit: row.millicredits_per_unit,
        }
      : null,
});

export type ResumableRows = ReturnType<typeof createResumableRows>;

export const createResumableRows = (database: Database, now: () => number) => {
  const queries = createQueries<Tables>(database);
  const update = (projectNumber: number, id: string) =>
    queries
      .updateTable('resumable_uploads')
      .where('project_number', '=', projectNumber)
      .where('id', '=', id);

  /** The store keeps what it knows of an upload in the upload's row. */
  const notes: Notes = {
    async get<T>(key: string) {
      const { projectNumber, id } = parseBlobKey(key);
      const row = await queries
        .selectFrom('resumable_uploads')
        .select('note')
        .where('project_number', '=', projectNumber)
        .where('id', '=', id)
        .executeTakeFirst();
      return (row?.note ?? undefined) as T | undefined;
    },
    async set(key, note) {
      const { projectNumber, id } = parseBlobKey(key);
      await update(projectNumber, id)
        .set({ note: JSON.stringify(note) })
        .execute();
    },
    delete: async () => {},
  };

  return {
    notes,

    /** An upload that a user opened is found by that user alone. @throws ApiError not_found */
    async find(identity: Identity, id: string): Promise<ResumableUpload> {
      if (!isUuid(id)) throw uploadNotFound();
      const row = await queries
        .selectFrom('resumable_uploads')
        .selectAll()
        .where('project_number', '=', identity.project.number)
        .where('id', '=', id)
        .where('expires_at', '>', new Date(now()))
        .where((upload) =>
          upload.or([
            upload('owner_id', 'is', null),
            upload('owner_id', '=', uploaderId(identity)),
          ]),
        )
        .executeTakeFirstOrThrow(uploadNotFound);
      return toResumableUpload(row);
    },

    async insert(
      identity: Identity,
      id: string,
      { name, visibility, groupId, record, sizeBytes, metadata }: OpenedUpload,
      expiresAt: Date,
    ): Promise<ResumableUpload> {
      const row = await queries
        .insertInto('resumable_uploads')
        .values({
          project_number: identity.project.number,
          id,
          owner_id: uploaderId(identity),
          opened_from: openedFrom(identity),
          opened_with: identity.keyId,
          name,
          visibility,
          group_id: groupId,
          record_collection: record?.collectionId ?? null,
          record_id: record?.recordId ?? null,
          size_bytes: sizeBytes,
          metadata,
          expires_at: expiresAt,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return toResumableUpload(row);
    },

    /** How many are open, and how many of them were opened from there. */
    async countOpen(
      projectNumber: number,
      from: Buffer | null,
    ): Promise<{ all: number; own: number }> {
      return queries
        .selectFrom('resumable_uploads')
        .select(({ fn }) => [
          fn.countAll<number>().as('all'),
          fn.countAll<number>().filterWhere('opened_from', '=', from).as('own'),
        ])
        .where('project_number', '=', projectNumber)
        .where('finished_at', 'is', null)
        .where('expires_at', '>', new Date(now()))
        .executeTakeFirstOrThrow();
    },

    /** What lies there of other uploads that were opened from where this one was, and are no files. */
    async countBytesBeside(
      projectNumber: number,
      { id, openedFrom }: ResumableUpload,
    ): Promise<number> {
      const { bytes } = await queries
        .selectFrom('resumable_uploads')
        .select(({ fn }) => fn.sum<string | null>('received_bytes').as('bytes'))
        .where('project_number', '=', projectNumber)
        .where('finished_at', 'is', null)
        .where('opened_from', '=', openedFrom)
        .where('id', '<>', id)
        .executeTakeFirstOrThrow();
      return Number(bytes ?? 0);
    },

    async setReceivedBytes(projectNumber: number, id: string, bytes: number): Promise<void> {
      await update(projectNumber, id).set({ received_bytes: bytes }).execute();
    },

    /** The oldest upload that got no byte and expires before then. @param from undefined: opened from anywhere */
    async findIdle(
      projectNumber: number,
      expiresBefore: Date,
      from: Buffer | null | undefined,
    ): Promise<string | undefined> {
      const idle = await queries
        .selectFrom('resumable_uploads')
        .select('id')
        .where('project_number', '=', projectNumber)
        .where('finished_at', 'is', null)
        .where('received_bytes', '=', 0)
        .where('expires_at', '<', expiresBefore)
        .$if(from !== undefined, (uploads) => uploads.where('opened_from', '=', from ?? null))
        .where((upload) =>
          upload.or([
            upload('held_until', 'is', null),
            upload('held_until', '<=', new Date(now())),
          ]),
        )
        .orderBy('expires_at')
        .limit(1)
        .executeTakeFirst();
      return idle?.id;
    },

    /** From here on its call pays, whichever call finishes the upload. */
    async setReservation(
      projectNumber: number,
      id: string,
      reservation: Reservation | null,
    ): Promise<void> {
      await update(projectNumber, id)
        .set({
          call_id: reservation?.callId ?? null,
          reserved_millicredits: reservation?.millicredits ?? null,
          millicredits_per_unit: reservation?.millicreditsPerUnit ?? null,
        })
        .execute();
    },

    /** False where it is finished already, or gone. */
    async finish(projectNumber: number, id: string): Promise<boolean> {
      const { numUpdatedRows } = await update(projectNumber, id)
        .set({ finished_at: new Date(now()) })
        .where('finished_at', 'is', null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    /** False where it is finished, or gone. */
    async remove(projectNumber: number, id: string): Promise<boolean> {
      const { numDeletedRows } = await queries
        .deleteFrom('resumable_uploads')
        .where('project_number', '=', projectNumber)
        .where('id', '=', id)
        .where('finished_at', 'is', null)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },

    /** Answers the keys of the blobs that no file has. @param ownerId all of the project without it */
    async removeAll(projectNumber: number, ownerId?: string): Promise<string[]> {
      let uploads = queries
        .deleteFrom('resumable_uploads')
        .where('project_number', '=', projectNumber)
        .returning(['id', 'finished_at']);
      if (ownerId !== undefined) uploads = uploads.where('owner_id', '=', ownerId);
      const removed = await uploads.execute();
      return removed
        .filter((upload) => upload.finished_at === null)
        .map(({ id }) => blobKeyFor(projectNumber, id));
    },

    sweep: () =>
      deleteExpired(database, [
        { table: 'resumable_uploads', condition: 'expires_at <= $1', values: [new Date(now())] },
      ]),
  };
};
