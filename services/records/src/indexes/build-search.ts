import { failBuilding } from '../collections/stored/generations.ts';
import type { CollectionSearch } from '../collections/stored/search-words.ts';
import {
  type Builder,
  type BuilderDeps,
  createBuilder,
  type Generation,
} from './building/build.ts';
import { keepWords } from './renew-words.ts';

/** Fills in the words of records from before, and removes those that are searched no longer. */
export const createSearchBuilder = (deps: BuilderDeps): Builder => {
  const { database, quota } = deps;
  return createBuilder<Generation & Pick<CollectionSearch, 'fields'>>(database, {
    table: 'searches',
    columns: ['fields'],
    rows: { table: 'search_texts', key: 'record_id', bytes: 'size_bytes' },
    batchRows: 50,
    async fill(collection, row, ids) {
      const { fields } = row;
      if (await quota.isFull(row.project_id))
        return () => failBuilding(deps, 'searches', row, { fields });
      await keepWords(database, collection, row, ids);
      return 'done';
    },
  });
};
