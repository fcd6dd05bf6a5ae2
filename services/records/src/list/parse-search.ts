import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { LRUCache } from 'lru-cache';
import type { SearchWords } from '../query/search-query.ts';

/** docs/api.md, "Search". A pair of characters counts as a quarter of a word. */
const maxWords = 10;
const pairsOfWord = 4;

/** Texts whose words are known: of 200 characters at most. */
const maxKnown = 1000;

const wordsSql = `SELECT DISTINCT word, kind FROM records.cut_words($1) WHERE kind <> 'end'
  UNION ALL SELECT lexeme, 'former' FROM unnest(to_tsvector('pg_catalog.simple', $1)) WHERE length(lexeme) <= 200`;

const readWords = async (database: Database, text: string): Promise<SearchWords> => {
  const rows = await database.read('records_search_query', wordsSql, [text]);
  const take = (...kinds: string[]) =>
    rows.flatMap(([word, kind]) => (word && kind && kinds.includes(kind) ? [word] : []));
  const [whole, pairs] = [take('word'), take('pair')];
  const words = [...whole, ...pairs];
  if (words.length === 0)
    throw new ApiError(
      'invalid_query',
      '"search" needs a word of letters or digits, 200 at most, as in search=green+tea.',
    );
  if (whole.length + pairs.length / pairsOfWord > maxWords)
    throw new ApiError('invalid_query', `"search" may have at most ${maxWords} different words.`);
  return { words, former: take('former') };
};

/** @throws ApiError invalid_query */
export type ParseSearch = (text: string) => Promise<SearchWords>;

/** PostgreSQL cuts a text into words, as it cuts those of records; the same one always into the same. */
export const createParseSearch = (database: Database): ParseSearch => {
  const known = new LRUCache<string, SearchWords>({ max: maxKnown });
  return async (text) => {
    if (!text.isWellFormed() || text.includes('\0'))
      throw new ApiError('invalid_query', '"search" holds NUL or half a surrogate pair.');
    const words = known.get(text) ?? (await readWords(database, text));
    known.set(text, words);
    return words;
  };
};
