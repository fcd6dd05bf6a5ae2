import { type CollectionKey, insertFromSql, type Parameters } from '../../sql.ts';
import { noSide, type SideSql } from './side-sql.ts';

export type SearchState = 'building' | 'ready';

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

export const searchWordsSql = (
  collection: CollectionKey,
  search: Generation,
  document: string,
  parameters: Parameters,
): string =>
  `records.search_words(${document}, ${parameters.add(search.fields, 'text[]')}, ${parameters.add(wordPrefix(collection, search), 'text')})`;

interface Wording {
  kind: 'create' | 'update' | 'delete';
  collection: CollectionKey & { search?: CollectionSearch | undefined };
  /** Whether it touches a field of the documents' first level. Default any. */
  isChanged?(field: string): boolean;
}

export const touchesWords = ({
  collection: { search },
  isChanged = () => true,
}: Pick<Wording, 'collection' | 'isChanged'>): boolean =>
  search !== undefined &&
  (search.fields?.some((field) => isChanged(field.split('.')[0] ?? field)) ?? true);

const anyWordsBytes = 2 * 1024 * 1024;
/** Short words, all of them different, have 13, pairs of characters 17, what NFKC writes out to several 30. */
const mostBytesForOne = 32;

/** What the quota counts for the words of a record of this size, at most. */
export const mostWordsBytes = (sizeBytes: number): number =>
  Math.min(anyWordsBytes, 128 + mostBytesForOne * sizeBytes);

/** By how much a change makes the words of a row of `records` larger: terms of a sum. @param document after it */
export const wordsGrowthSql = (
  change: Wording,
  document: string,
  parameters: Parameters,
): readonly string[] => {
  const { collection } = change;
  const { search } = collection;
  if (!search || !touchesWords(change)) return [];
  return [
    `(records.words_size(${searchWordsSql(collection, search, document, parameters)}) - coalesce((SELECT kept.size_bytes
     FROM search_texts kept WHERE kept.project_id = $1 AND kept.coll_id = $2
       AND kept.number = ${parameters.add(search.number, 'int')} AND kept.record_id = records.id), 0))`,
  ];
};

/**
 * Keeps the words of the records of the table `changed`, and forgets those of deleted ones, which have to be locked in
 * an earlier statement.
 */
export const wordsSql = (change: Wording, parameters: Parameters): SideSql => {
  const { collection, kind } = change;
  const { search } = collection;
  if (!search || !touchesWords(change)) return noSide;
  const number = parameters.add(search.number, 'int');
  if (kind === 'delete')
    return {
      returned: ', old.id AS searched_id',
      tables: `, forgotten AS (DELETE FROM search_texts USING changed
        WHERE search_texts.project_id = $1 AND search_texts.coll_id = $2
          AND search_texts.number = ${number} AND search_texts.record_id = searched_id
        RETURNING -search_texts.size_bytes AS growth)`,
      counted: ['forgotten'],
    };
  return {
    returned: `, new.id AS searched_id, ${searchWordsSql(collection, search, 'new.data', parameters)} AS words`,
    tables: `, searched AS (
      ${insertFromSql('search_texts', { number, record_id: 'searched_id', words: 'words' }, 'changed')}
      ON CONFLICT (project_id, coll_id, number, record_id) DO UPDATE SET words = excluded.words
      RETURNING new.size_bytes - coalesce(old.size_bytes, 0) AS growth)`,
    counted: ['searched'],
  };
};
