import type { ListQuery, ReadLimits, Stretch } from '../list-statement.ts';
import type { Plan } from '../plan.ts';
import { type SearchTerms, type SearchWords, toSearchTerms } from '../search-query.ts';
import { searchCountStatement, searchListStatement } from '../search-statement.ts';
import type { Selection } from '../selection.ts';
import type { Count } from './count-plan.ts';
import type { FoundPage } from './list-pieces.ts';
import { readPage } from './list-plan.ts';

/** What a search finds and ranks as quickly as other lists by an index. */
const shortSearch = ({ scanRows }: ReadLimits): Stretch => ({
  rows: Math.min(scanRows, 5000),
  ms: 100,
});
const workMs = 800;

const step = { kind: 'search', slots: [], wants: [] } as const;

const termsFor = ({ collection, access }: Selection, words: SearchWords): SearchTerms =>
  toSearchTerms(collection, access, words);

/** @throws ApiError as `toSearchTerms` */
export const planSearch = (
  query: ListQuery,
  words: SearchWords,
  limits: ReadLimits,
): Plan<FoundPage> => {
  const terms = termsFor(query, words);
  const plan = (stretch: Stretch) => ({
    statement: searchListStatement(query, terms, limits, stretch),
    read: readPage(query),
  });
  return {
    ...step,
    queue: 'index',
    ...plan(shortSearch(limits)),
    next: () => ({ ...step, queue: 'scans', ...plan({ rows: limits.scanRows, ms: workMs }) }),
  };
};

interface SearchCount {
  count: number;
  unfinished: boolean;
  epoch: number;
}

/** @throws ApiError as `toSearchTerms` */
export const planSearchCount = (
  selection: Selection,
  words: SearchWords,
  limits: ReadLimits,
): Plan<Count> => {
  const terms = termsFor(selection, words);
  const plan = (stretch: Stretch) => ({
    statement: searchCountStatement(selection, terms, stretch),
    read(row: unknown) {
      const { count, unfinished, epoch } = row as SearchCount;
      if (epoch !== selection.collection.epoch) return 'stale' as const;
      return unfinished ? ('unfinished' as const) : { count };
    },
  });
  return {
    ...step,
    queue: 'index',
    ...plan(shortSearch(limits)),
    next: () => ({ ...step, queue: 'scans', ...plan({ rows: limits.scanRows, ms: workMs }) }),
  };
};
