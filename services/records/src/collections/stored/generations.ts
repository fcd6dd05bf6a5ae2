import { ApiError, type EventPayloads } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { type CollectionKey, inCollection } from '../../sql.ts';

/** Tables that say what is kept beside the records of a collection, by the epoch that began with it. */
export type GenerationTable = 'unique_fields' | 'searches' | 'record_limits';

/** How many are still being removed, at most: who switches to and fro waits for them. */
const maxDropping = 20;

/** Writers that do not know of a change write nothing from its commit on. Returns the new epoch. */
export const raiseEpoch = async (
  database: Database,
  { projectNumber, id }: CollectionKey,
): Promise<number> => {
  const [row] = await database.query<{ epoch: number }>(
    `UPDATE collections SET epoch = epoch + 1 WHERE ${inCollection} RETURNING epoch`,
    [projectNumber, id],
  );
  if (!row) throw new ApiError('not_found', 'There is no such collection.');
  return row.epoch;
};

/** Until the end of the transaction nobody else changes what is kept beside the records. */
export const lockCollection = (database: Database, { projectNumber, id }: CollectionKey) =>
  database.query(`SELECT FROM collections WHERE ${inCollection} FOR NO KEY UPDATE`, [
    projectNumber,
    id,
  ]);

/** In a transaction that has locked the collection; its epoch has to be raised too. */
export const startDropping = async (
  database: Database,
  table: GenerationTable,
  { projectNumber, id }: CollectionKey,
  number: number,
): Promise<void> => {
  await database.query(
    `UPDATE ${table} SET state = 'dropping', is_known = false WHERE ${inCollection} AND number = $3`,
    [projectNumber, id, number],
  );
};

/**
 * Ends the building of a generation: writers do no more for it, and another one says that it has failed.
 * @param failed the columns of that one, beside those of every generation
 */
export const failBuilding = (
  { database, outbox }: { database: Database; outbox: Outbox<EventPayloads> },
  table: GenerationTable,
  { project_id, coll_id, number }: { project_id: number; coll_id: number; number: number },
  failed: Readonly<Record<string, unknown>>,
): Promise<void> =>
  database.transaction(async () => {
    const collection = { projectNumber: project_id, id: coll_id };
    // Before what is kept beside it, as by those who set that.
    await lockCollection(database, collection);
    const [current] = await database.query(
      `SELECT FROM ${table} WHERE ${inCollection} AND number = $3 AND state = 'building'`,
      [project_id, coll_id, number],
    );
    if (!current) return;
    await startDropping(database, table, collection, number);
    const columns = Object.keys(failed);
    await database.query(
      `INSERT INTO ${table} (project_id, coll_id, number, state, ${columns.join(', ')})
       VALUES ($1, $2, $3, 'failed', ${columns.map((_, i) => `$${i + 4}`).join(', ')})`,
      [project_id, coll_id, await raiseEpoch(database, collection), ...Object.values(failed)],
    );
    const [found] = await database.query<{ name: string }>(
      `SELECT name FROM collections WHERE ${inCollection}`,
      [project_id, coll_id],
    );
    if (found)
      await outbox.append('collection.changed', { projectNumber: project_id, name: found.name });
  });

/** @throws ApiError conflict */
export const checkDropping = (count: number): void => {
  if (count <= maxDropping) return;
  throw new ApiError('conflict', 'This collection was set anew too often just now.', {
    hint: 'Try again in a minute.',
  });
};
