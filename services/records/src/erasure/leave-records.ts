import { randomUUID } from 'node:crypto';
import type { Database } from '@backlot/database';
import type { Collection } from '../collections/collections.ts';
import type { Update } from '../record/change/change.ts';
import type { SendChange } from '../record/change/send-change.ts';
import { inCollection, startParameters } from '../sql.ts';

/** An owner who is nobody, another one for each record: what one user has made is not to be found by it. */
const withoutOwner = (collection: Collection, ids: readonly string[], nowMs: number): Update => {
  // What the server wrote of them itself: their id, and their name.
  const unset = (collection.schema?.serverFields ?? [])
    .filter(([, value]) => value !== 'now')
    .map(([field]) => field);
  const isUnset = (field: string) => unset.includes(field);
  return {
    kind: 'update',
    collection,
    edits: ids.map((id) => ({ id, ownerId: randomUUID(), dataJson: '{}', unset, inc: {} })),
    how: 'merge',
    names: isUnset,
    isChanged: isUnset,
    changesOwner: true,
    now: nowMs,
  };
};

/**
 * Deletes records of an erased user, or leaves them to nobody. Belongs into a transaction.
 * @returns false where the statement was made for other slots
 */
export const leaveRecords = async (
  { database, send }: { database: Database; send: SendChange },
  { fate, collection, nowMs }: { fate: string; collection: Collection; nowMs: number },
  theirs: readonly string[],
): Promise<boolean> => {
  const locked = await database.query<{ id: string }>(
    `SELECT id FROM records WHERE ${inCollection} AND id = ANY ($3::uuid[]) ORDER BY id FOR UPDATE`,
    startParameters(collection, theirs).values,
  );
  const ids = locked.map(({ id }) => id);
  if (ids.length === 0) return true;
  const changed = await send(
    fate === 'delete' ? { kind: 'delete', collection, ids } : withoutOwner(collection, ids, nowMs),
  );
  return changed.length > 0;
};
