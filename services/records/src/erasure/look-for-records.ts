import type { Database } from '@backlot/database';
import type { Collection } from '../collections/collections.ts';
import { checkEpoch } from '../collections/current-slots.ts';
import { ownerField, slotColumn } from '../collections/stored/slots.ts';
import { inCollection, startParameters } from '../sql.ts';

interface Looked {
  id: string;
  is_theirs: boolean | null;
}

interface Search {
  collection: Collection;
  userId: string;
  afterId: string;
  limit: number;
}

/**
 * The next records by id: the user's alone where owners have an index, else everybody's. Belongs into a transaction.
 * @throws StaleSlots
 */
export const lookForRecords = async (
  database: Database,
  { collection, userId, afterId, limit }: Search,
): Promise<Looked[]> => {
  const slot = collection.slots.find(
    ({ field, state }) => field === ownerField && state === 'ready',
  );
  const byOwner = slot ? `AND ${slotColumn(slot)} = records.owner_key($4::uuid)` : '';
  const looked = await database.query<Looked>(
    `SELECT id, owner_id = $4::uuid AS is_theirs FROM records
      WHERE ${inCollection} AND id > $3 ${byOwner} ORDER BY id LIMIT $5`,
    startParameters(collection, afterId, userId, limit).values,
  );
  // After it: the index was whole when it was read.
  if (slot) await checkEpoch(database, collection);
  return looked;
};
