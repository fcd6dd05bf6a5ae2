import type { Collection } from '../../collections/collections.ts';
import { claimsGrowthSql, touchedFields } from '../../collections/stored/claims.ts';
import {
  mostWordsBytes,
  touchesWords,
  wordsGrowthSql,
} from '../../collections/stored/search-words.ts';
import { claimBytes } from '../../collections/stored/side-sql.ts';
import type { Parameters } from '../../sql.ts';
import type { CheckedData } from '../data.ts';
import { changesField, type Patch } from '../patch.ts';
import type { Totals } from './totals.ts';

type IsChanged = (firstLevel: string) => boolean;

/** What the quota counts beside a new record of this size, at most. */
export const mostSideBytes = ({ unique, search }: Collection, sizeBytes: number): number =>
  unique.length * claimBytes + (search ? mostWordsBytes(sizeBytes) : 0);

/** What it counts for a change that makes a record so much larger, but for words that were beyond the first. */
export const mostSideGrowth = (
  collection: Collection,
  growthBytes: number,
  isChanged?: IsChanged,
): number =>
  touchedFields(collection.unique, isChanged).length * claimBytes +
  (touchesWords(collection, isChanged) ? mostWordsBytes(growthBytes) : 0);

/** What it counts for a batch, at most. */
export const mostBatchGrowth = (
  collection: Collection,
  { create, update }: { create: readonly CheckedData[]; update: readonly { patch: Patch }[] },
): Totals => {
  const created = create.map(({ sizeBytes }) => sizeBytes + mostSideBytes(collection, sizeBytes));
  const grown = update.map(({ patch }) => {
    const { maxGrowthBytes } = patch;
    return maxGrowthBytes + mostSideGrowth(collection, maxGrowthBytes, changesField(patch));
  });
  const bytes = [...created, ...grown].reduce((total, value) => total + value, 0);
  return { records: create.length, bytes };
};

/** What a change of a row of `records` adds there: terms of a sum. @param document after the change */
export const sideGrowthSql = (
  collection: Collection,
  document: string,
  parameters: Parameters,
  isChanged?: IsChanged,
): string[] => {
  const { search, unique } = collection;
  const claims = claimsGrowthSql(touchedFields(unique, isChanged), document, parameters);
  return search && touchesWords(collection, isChanged)
    ? [...claims, wordsGrowthSql(collection, search, document, parameters)]
    : claims;
};
