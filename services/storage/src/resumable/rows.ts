import type { Visibility } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity, Reservation } from '@backlot/identity';
import type { Notes } from '../blob-store/blob-store.ts';
import { findOpened, ownerOf } from '../upload/opened.ts';
import type { Announced } from './tus-headers.ts';

/** A resumable upload: the file that it becomes has its id. */
export interface Resumable extends Announced {
  id: string;
  blobKey: string;
  /** The user who opened it, and has the file. */
  ownerId: string | null;
  expiresAt: Date;
  isFinished: boolean;
  /** By calls that have ended. */
  receivedBytes: number;
  /** What was reserved for the call that may finish it; null where it is free. */
  paidBy: Reservation | null;
}

interface Row {
  project_number: number;
  id: string;
  owner_id: string | null;
  name: string;
  visibility: Visibility;
  size_bytes: number;
  metadata: string;
  received_bytes: number;
  expires_at: Date;
  finished_at: Date | null;
  call_id: string | null;
  reserved_millicredits: number | null;
}

const columns = `project_number, id, owner_id, name, visibility, size_bytes, metadata, received_bytes, expires_at, finished_at,
  call_id, reserved_millicredits`;
export const blobKeyOf = (projectNumber: number, id: string) => `${projectNumber}/${id}`;

const resumableOf = (row: Row): Resumable => ({
  id: row.id,
  blobKey: blobKeyOf(row.project_number, row.id),
  ownerId: row.owner_id,
  name: row.name,
  visibility: row.visibility,
  sizeBytes: row.size_bytes,
  metadata: row.metadata,
  expiresAt: row.expires_at,
  isFinished: row.finished_at !== null,
  receivedBytes: row.received_bytes,
  paidBy:
    row.call_id !== null && row.reserved_millicredits !== null
      ? { callId: row.call_id, millicredits: row.reserved_millicredits }
      : null,
});

export type ResumableRows = ReturnType<typeof createResumableRows>;

export const createResumableRows = (database: Database, now: () => number) => {
  const one = 'WHERE project_number = $1 AND id = $2';

  /** What the store remembers is in the row of the upload. */
  const notes: Notes = {
    async get<T>(key: string) {
      const [row] = await database.query<{ note: T | null }>(
        `SELECT note FROM resumable_uploads ${one}`,
        key.split('/'),
      );
      return row?.note ?? undefined;
    },
    async set(key, note) {
      await database.query(`UPDATE resumable_uploads SET note = $3 ${one}`, [
        ...key.split('/'),
        JSON.stringify(note),
      ]);
    },
    delete: async () => {},
  };

  return {
    notes,

    /** @throws ApiError not_found */
    async find(identity: Identity, id: string): Promise<Resumable> {
      const table = 'resumable_uploads';
      return resumableOf(await findOpened<Row>(database, { table, columns }, identity, id, now()));
    },

    async add(identity: Identity, id: string, it: Announced, expiresAt: Date): Promise<Resumable> {
      const { number } = identity.project;
      const ownerId = ownerOf(identity);
      await database.query(
        `INSERT INTO resumable_uploads
           (project_number, id, owner_id, name, visibility, size_bytes, metadata, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [...[number, id, ownerId, it.name, it.visibility, it.sizeBytes, it.metadata], expiresAt],
      );
      const blobKey = blobKeyOf(number, id);
      const fresh = { isFinished: false, receivedBytes: 0, paidBy: null };
      return { ...it, ...fresh, id, blobKey, ownerId, expiresAt };
    },

    /** Of those that are open: how many, and what came of them. */
    async open(projectNumber: number): Promise<{ count: number; bytes: number }> {
      const [open] = await database.query<{ count: number; bytes: number }>(
        `SELECT count(*) AS count, coalesce(sum(received_bytes), 0)::bigint AS bytes
           FROM resumable_uploads
          WHERE project_number = $1 AND finished_at IS NULL AND expires_at > $2`,
        [projectNumber, new Date(now())],
      );
      return open ?? { count: 0, bytes: 0 };
    },

    async received(projectNumber: number, id: string, bytes: number): Promise<void> {
      await database.query(`UPDATE resumable_uploads SET received_bytes = $3 ${one}`, [
        projectNumber,
        id,
        bytes,
      ]);
    },

    /** One that has been open for longest, since before then, and that nothing came of. */
    async findIdle(projectNumber: number, expiresBefore: Date): Promise<string | undefined> {
      const [idle] = await database.query<{ id: string }>(
        `SELECT id FROM resumable_uploads
          WHERE project_number = $1 AND finished_at IS NULL AND received_bytes = 0
            AND (held_until IS NULL OR held_until <= $3) AND expires_at < $2
          ORDER BY expires_at LIMIT 1`,
        [projectNumber, expiresBefore, new Date(now())],
      );
      return idle?.id;
    },

    /** From here on this call pays, whoever finishes it. */
    async payBy(projectNumber: number, id: string, call: Reservation | null): Promise<void> {
      await database.query(
        `UPDATE resumable_uploads SET call_id = $3, reserved_millicredits = $4 ${one}`,
        [projectNumber, id, call?.callId ?? null, call?.millicredits ?? null],
      );
    },

    /** Once; false where it is finished already, or gone. */
    async finish(projectNumber: number, id: string): Promise<boolean> {
      const finished = await database.query(
        `UPDATE resumable_uploads SET finished_at = $3 ${one} AND finished_at IS NULL
         RETURNING true`,
        [projectNumber, id, new Date(now())],
      );
      return finished.length > 0;
    },

    /** False where it is finished, or gone. */
    async remove(projectNumber: number, id: string): Promise<boolean> {
      const removed = await database.query(
        `DELETE FROM resumable_uploads ${one} AND finished_at IS NULL RETURNING true`,
        [projectNumber, id],
      );
      return removed.length > 0;
    },

    /** Answers the keys of those that were open. @param ownerId all of the project without it */
    async removeAll(projectNumber: number, ownerId?: string): Promise<string[]> {
      const removed = await database.query<{ id: string; finished_at: Date | null }>(
        `DELETE FROM resumable_uploads
          WHERE project_number = $1 AND ($2::uuid IS NULL OR owner_id = $2)
         RETURNING id, finished_at`,
        [projectNumber, ownerId ?? null],
      );
      return removed
        .filter((each) => each.finished_at === null)
        .map(({ id }) => blobKeyOf(projectNumber, id));
    },

    async sweep(): Promise<void> {
      await database.query('DELETE FROM resumable_uploads WHERE expires_at <= $1', [
        new Date(now()),
      ]);
    },
  };
};
