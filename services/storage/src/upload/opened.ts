import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { Identity } from '@backlot/identity';
import { z } from 'zod';
import type { BlobStore } from '../blob-store/blob-store.ts';
import { headBytes, mediaTypeOf } from '../media-type.ts';

/** How many uploads of a project may be open at a time, of a kind. */
export const maxOpen = 1000;

export const ownerOf = ({ caller, userId }: Identity): string | null =>
  caller === 'user' ? userId : null;

export const uploadNotFound = (): ApiError =>
  new ApiError('not_found', 'There is no such upload, or no longer.');

export const tooManyOpen = (): ApiError =>
  new ApiError('overloaded', 'Too many uploads of this app are open.', { retryAfterSeconds: 60 });

/**
 * An upload that was opened before; a user's is theirs alone.
 * @param now epoch milliseconds
 * @throws ApiError not_found
 */
export const findOpened = async <Row>(
  database: Database,
  { table, columns }: { table: 'direct_uploads' | 'resumable_uploads'; columns: string },
  identity: Identity,
  id: string,
  now: number,
): Promise<Row> => {
  const [row] = z.uuid().safeParse(id).success
    ? await database.query<Row>(
        `SELECT ${columns} FROM ${table}
          WHERE project_number = $1 AND id = $2 AND expires_at > $3
            AND (owner_id IS NULL OR owner_id = $4)`,
        [identity.project.number, id, new Date(now), ownerOf(identity)],
      )
    : [];
  if (!row) throw uploadNotFound();
  return row;
};

/** What the store got. @throws BlobNotFound */
export const arrived = async (
  store: BlobStore,
  blobKey: string,
): Promise<{ sizeBytes: number; mediaType: string }> => {
  const sizeBytes = await store.sizeBytes(blobKey);
  const end = Math.min(sizeBytes, headBytes) - 1;
  const chunks: Buffer[] = [];
  for await (const chunk of await store.open(blobKey, { start: 0, end })) chunks.push(chunk);
  return { sizeBytes, mediaType: await mediaTypeOf(Buffer.concat(chunks), sizeBytes) };
};
