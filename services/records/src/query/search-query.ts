import { ApiError } from '@backlot/contract';
import type { Access } from '../collections/access.ts';
import type { Collection, Collections } from '../collections/collections.ts';
import { type CollectionSearch, wordPrefix } from '../collections/stored/search-words.ts';

/** The words of the query parameter `search`, as the index has them. */
export interface SearchWords {
  words: readonly string[];
  /** As they were cut before: for collections whose words are not all cut anew yet. */
  former: readonly string[];
}

export interface SearchTerms {
  number: number;
  /** Records that have, for each word, one that begins with it: a tsquery. */
  matching: string;
  /** Those with the words themselves, which rank higher. */
  exact: string;
}

const quoteWord = (word: string) => `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

const owner = (name: string) =>
  `PUT /api/platform/projects/<id>/collections/${name} {"search": ["title", "body"]}`;

const refuseHidden = (
  { name }: Collection,
  { userId, fields: { hidden } }: Access,
  { fields }: CollectionSearch,
): void => {
  const searched = fields?.map((path) => path.split('.')[0]);
  const limit = hidden.find(({ field }) => searched?.includes(field) ?? true);
  if (!limit) return;
  throw new ApiError(
    userId === null ? 'unauthenticated' : 'forbidden',
    `"search" looks into the field ${JSON.stringify(limit.field)}, which is hidden from you.`,
    { hint: `The project’s owner chooses the fields that are searched by ${owner(name)}.` },
  );
};

/**
 * @throws ApiError invalid_query where the collection has no search, index_building while it is built, unauthenticated
 *   and forbidden where it holds fields that are hidden from the caller
 */
export const toSearchTerms = (
  collection: Collection,
  access: Access,
  { words, former }: SearchWords,
): SearchTerms => {
  const { search, name } = collection;
  if (!search)
    throw new ApiError('invalid_query', `"search" is not switched on for "${name}".`, {
      hint: `The project’s owner switches it on by ${owner(name)}, or {"search": true} for all fields.`,
    });
  refuseHidden(collection, access, search);
  if (search.state === 'building')
    throw new ApiError('index_building', `The words of "${name}" are being indexed.`, {
      hint: 'Try again soon. The project’s owner sees in the list of collections, in search.state, when it is ready.',
      retryAfterSeconds: 2,
    });
  const prefix = wordPrefix(collection, search);
  const cuts = search.isFormer && former.length > 0 ? [words, former] : [words];
  const toQuery = (suffix: string) =>
    cuts.map((cut) => cut.map((word) => quoteWord(prefix + word) + suffix).join(' & ')).join(' | ');
  return { number: search.number, matching: toQuery(':*'), exact: toQuery('') };
};

export const tooManyFound = (): ApiError =>
  new ApiError('query_too_expensive', 'This search finds more records than can be ranked.', {
    hint: 'Search for more or longer words.',
  });

/** What is known of a collection may be from before its search was built. */
export const withBuiltSearch = async <Target extends { collection: Collection }>(
  refresh: Collections['refresh'],
  target: Target,
): Promise<Target> =>
  target.collection.search?.state === 'ready'
    ? target
    : { ...target, collection: await refresh(target.collection) };
