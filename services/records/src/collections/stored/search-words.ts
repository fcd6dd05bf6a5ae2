import { type CollectionKey, insertFromSql, type Parameters } from '../../sql.ts';
import { countGrowthSql, noSide, type SideSql } from './side-sql.ts';

export type SearchState = 'building' | 'ready';

/** The search of a collection, where it is switched on. */
export interface CollectionSearch {
  /** Under which its words are kept. */
  number: number;
  /** Paths; null: all. */
  fields: readonly string[] | null;
  state: SearchState;
  /** Whether some of its words may still be as the rule before cut them. */
  isFormer: boolean;
}

type Generation = Pick<CollectionSearch, 'number' | 'fields'>;

/** With which each word of the collection begins in the index. */
export const wordPrefix = ({ projectNumber, id }: CollectionKey, { number }: Generation): string =>
  `${projectNumber.toString(36)}.${id.toString(36)}.${number.toString(36)}.`;

/** The words of a document: tsvector. */
export const searchWordsSql = (
  collection: CollectionKey,
  search: Generation,
  document: string,
  parameters: Parameters,
): string =>
  `records.search_words(${document}, ${parameters.add(search.fields, 'text[]')}, ${parameters.add(wordPrefix(collection, search), 'text')})`;

type Searched = CollectionKey & { search?: CollectionSearch | undefined };

/** @param isChanged whether the change touches this field of the document's first level */
export const touchesWords = (
  { search }: Pick<Searched, 'search'>,
  isChanged: (firstLevel: string) => boolean = () => true,
): boolean =>
  search !== undefined &&
  (search.fields?.some((field) => isChanged(field.split('.')[0] ?? field)) ?? true);

/** More than what the quota counts for the words of any record. */
const anyWordsBytes = 2 * 1024 * 1024;
/** Short words, all of them different, have 13, pairs of characters 17, what NFKC writes out to several 30. */
const mostBytesForOne = 32;

/** What the quota counts for the words of a record of this size, at most. */
export const mostWordsBytes = (sizeBytes: number): number =>
  Math.min(anyWordsBytes, 128 + mostBytesForOne * sizeBytes);

/** By how much a change makes the words of a row of `records` larger. @param document after it */
export const wordsGrowthSql = (
  collection: CollectionKey,
  search: CollectionSearch,
  document: string,
  parameters: Parameters,
): string =>
  `(records.words_size(${searchWordsSql(collection, search, document, parameters)}) - coalesce((SELECT kept.size_bytes
     FROM search_texts kept WHERE kept.project_id = $1 AND kept.coll_id = $2
       AND kept.number = ${parameters.add(search.number, 'int')} AND kept.record_id = records.id), 0))`;

/** Keeps the words of the records that a table of the statement returns. */
export const keepWordsSql = (
  collection: Searched,
  written: string,
  parameters: Parameters,
  isChanged?: (firstLevel: string) => boolean,
): SideSql => {
  const { search } = collection;
  if (!search || !touchesWords(collection, isChanged)) return noSide;
  const number = parameters.add(search.number, 'int');
  return {
    returned: `, new.id AS searched_id, ${searchWordsSql(collection, search, 'new.data', parameters)} AS words`,
    tables: `, searched AS (
      ${insertFromSql('search_texts', { number, record_id: 'searched_id', words: 'words' }, written)}
      ON CONFLICT (project_id, coll_id, number, record_id) DO UPDATE SET words = excluded.words
      RETURNING new.size_bytes - coalesce(old.size_bytes, 0) AS growth),
    searched_bytes AS (${countGrowthSql('searched')})`,
  };
};

/** Forgets the words of deleted records, which have to be locked in an earlier statement. */
export const forgetWordsSql = (
  { search }: Searched,
  deleted: string,
  parameters: Parameters,
): SideSql =>
  search
    ? {
        returned: ', old.id AS searched_id',
        tables: `, forgotten AS (DELETE FROM search_texts USING ${deleted}
          WHERE search_texts.project_id = $1 AND search_texts.coll_id = $2
            AND search_texts.number = ${parameters.add(search.number, 'int')} AND search_texts.record_id = searched_id
          RETURNING -search_texts.size_bytes AS growth),
        forgotten_bytes AS (${countGrowthSql('forgotten')})`,
      }
    : noSide;
