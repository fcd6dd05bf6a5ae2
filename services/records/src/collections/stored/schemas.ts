import type { RecordSchema } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { LRUCache } from 'lru-cache';
import type { CompiledSchema } from '../../schema/compiled-schema.ts';
import { parseSchema } from '../../schema/parse.ts';
import { type CollectionKey, inCollection } from '../../sql.ts';
import { lockCollection, raiseEpoch } from './generations.ts';

/** Of all that are kept ready. */
const maxKeptBytes = 32 * 1024 * 1024;

/** Compiles what a column has; a collection is read every few seconds, and changes seldom. */
export const createSchemaReader = () => {
  const kept = new LRUCache<string, CompiledSchema>({
    maxSize: maxKeptBytes,
    sizeCalculation: ({ sizeBytes }) => sizeBytes,
  });
  return (text: string): CompiledSchema => {
    const known = kept.get(text);
    if (known) return known;
    const compiled = parseSchema(JSON.parse(text) as RecordSchema);
    kept.set(text, compiled);
    return compiled;
  };
};

/**
 * Sets what records have to be, in the surrounding transaction: writers that do not know of it write nothing from its
 * commit on.
 * @throws ApiError invalid_body
 */
export const setSchema = async (
  database: Database,
  collection: CollectionKey,
  given: RecordSchema | null,
): Promise<void> => {
  if (given) parseSchema(given);
  await lockCollection(database, collection);
  const { projectNumber, id } = collection;
  const schema = given && JSON.stringify(given);
  const changed = await database.query(
    `UPDATE collections SET schema = $3 WHERE ${inCollection} AND schema IS DISTINCT FROM $3 RETURNING 1`,
    [projectNumber, id, schema],
  );
  if (changed.length === 0) return;
  await raiseEpoch(database, collection);
  await database.query(`DELETE FROM schema_reports WHERE ${inCollection}`, [projectNumber, id]);
};
