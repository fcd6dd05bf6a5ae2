import { ApiError } from '@backlot/contract';
import type { Database } from '@backlot/database';
import type { SearchWords } from '../query/search-query.ts';

/** docs/api.md, "Search". A pair of characters counts as a quarter of a word. */
const maxWords = 10;
const pairsOfWord = 4;

const wordsSql = `SELECT DISTINCT word, kind FROM records.cut_words($1) WHERE kind <> 'end'
  UNION ALL SELECT lexeme, 'former' FROM unnest(to_tsvector('pg_catalog.simple', $1)) WHERE length(lexeme) <= 200`;

/** @throws ApiError invalid_query */
export const parseSearch = async (database: Database, text: string): Promise<SearchWords> => {
  if (!text.isWellFormed() || text.includes('\0'))
    throw new ApiError('invalid_query', '"search" holds NUL or half a surrogate pair.');
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
