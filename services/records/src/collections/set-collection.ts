import type { CollectionAccess, LimitsChange, OnErase, RecordSchema } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { formatAccess } from './rules.ts';
import { setLimits } from './stored/limits.ts';
import { setSchema } from './stored/schemas.ts';
import { type SearchChange, setSearch } from './stored/searches.ts';
import { setUniqueFields, type UniqueChange } from './stored/unique-fields.ts';
import type { Collection } from './table/found-collections.ts';

export interface CollectionChanges {
  access?: CollectionAccess | undefined;
  /** The fields that are always indexed, in place of those from before. */
  indexes?: readonly string[] | undefined;
  unique?: UniqueChange | undefined;
  search?: SearchChange | undefined;
  /** Null: what follows from the access. */
  onErase?: OnErase | null | undefined;
  schema?: RecordSchema | null | undefined;
  /** Those that change; null: all are taken away. */
  limits?: LimitsChange | null | undefined;
  history?: boolean | undefined;
}

export interface IndexedFields {
  /** Indexes exactly these fields for as long as the owner wants. @throws ApiError invalid_body */
  pin(
    collection: { projectNumber: number; id: number; name: string },
    fields: readonly string[],
  ): Promise<void>;
}

/** In the transaction that has made or found the collection. @throws ApiError invalid_body, conflict */
export const setCollection = async (
  database: Database,
  indexed: IndexedFields,
  collection: Collection,
  { access, indexes, unique, search, schema, limits, onErase, history }: CollectionChanges,
): Promise<void> => {
  if (indexes) await indexed.pin(collection, indexes);
  if (unique) await setUniqueFields(database, collection, unique);
  if (search !== undefined) await setSearch(database, collection, search);
  if (schema !== undefined) await setSchema(database, collection, schema);
  if (limits !== undefined) await setLimits(database, collection, limits);
  await database.query(
    `UPDATE collections SET access = coalesce($3, access), on_erase = CASE WHEN $5 THEN $4 ELSE on_erase END, history = coalesce($6, history), is_set = true
      WHERE project_id = $1 AND name = $2`,
    [
      collection.projectNumber,
      collection.name,
      access === undefined ? null : formatAccess(access),
      onErase ?? null,
      onErase !== undefined,
      history ?? null,
    ],
  );
};
