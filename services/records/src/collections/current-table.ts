import type { Database } from '@backlot/database';
import { inCollection } from '../sql.ts';
import { StaleSlots } from './current-slots.ts';
import type { StoredCollection } from './stored/records-table.ts';

interface Current extends StoredCollection {
  epoch: number;
}

/**
 * After a read: whether the collection was where the statement looked. It costs a trip only while the collection
 * moves: each process knows of the move long before its records are elsewhere.
 * @throws StaleSlots
 */
export const checkTable = async (
  database: Database,
  { projectNumber, id, ownTable, epoch }: Current,
): Promise<void> => {
  if (ownTable !== 'filling') return;
  const [row] = await database.query<{ epoch: number }>(
    `SELECT epoch FROM collections WHERE ${inCollection}`,
    [projectNumber, id],
  );
  if (row?.epoch !== epoch) throw new StaleSlots();
};

/** Keeps the collection where it is until the end of the transaction. @throws StaleSlots */
export const holdTable = async (
  database: Database,
  { projectNumber, id, ownTable, epoch }: Current,
): Promise<void> => {
  if (ownTable !== 'filling') return;
  const [row] = await database.query<{ epoch: number }>(
    'SELECT records.hold_table($1, $2) AS epoch',
    [projectNumber, id],
  );
  if (row?.epoch !== epoch) throw new StaleSlots();
};
