import type { Access } from '../collections/access.ts';
import { ownerField } from '../collections/stored/slots.ts';
import type { Term, Word } from '../collections/terms/terms.ts';
import { type Filter, flattenAnd } from '../where/filter.ts';
import { forCaller } from '../where/rule-filter.ts';

/** What a caller's right to read asks of records, as a filter. */
export interface ReadFilter {
  /** All of them pass these. */
  parts: Filter[];
  /** Whether nothing else is asked. */
  isWhole: boolean;
}

const wordFilter = (word: Word, { userId }: Access): Filter | undefined =>
  word === 'owner' && userId !== null
    ? { kind: 'test', field: ownerField, test: { op: 'eq', value: userId } }
    : undefined;

const joinByOr = (filters: readonly Filter[]): Filter =>
  filters.length === 1 && filters[0] ? filters[0] : { kind: 'or', filters: [...filters] };

const areKnown = (filters: readonly (Filter | undefined)[]): filters is readonly Filter[] =>
  !filters.includes(undefined);

const termFilter = (
  term: Term,
  access: Access,
): { filter: Filter; isWhole: boolean } | undefined => {
  if (typeof term === 'string') {
    const filter = wordFilter(term, access);
    return filter && { filter, isWhole: true };
  }
  const where = forCaller(term.where, access);
  if (term.to === 'all') return { filter: where, isWhole: true };
  const words = term.to.map((word) => wordFilter(word, access));
  return areKnown(words)
    ? { filter: { kind: 'and', filters: [joinByOr(words), where] }, isWhole: true }
    : { filter: where, isWhole: false };
};

/** Undefined where the caller reads all, or by words of which the records' fields tell nothing. */
export const readFilter = (access: Access): ReadFilter | undefined => {
  const { read } = access.rights;
  if (typeof read === 'string') return undefined;
  const terms = read.map((term) => termFilter(term, access));
  const known = terms.filter((term) => term !== undefined);
  if (known.length < terms.length) return undefined;
  return {
    parts: flattenAnd(joinByOr(known.map(({ filter }) => filter))),
    isWhole: known.every(({ isWhole }) => isWhole),
  };
};
