import { ApiError } from '@backlot/contract';
import type { Json } from '../../where/filter.ts';
import type { Measures } from './measures.ts';
import {
  type Group,
  groupResults,
  measuredResults,
  nearestResult,
  type Result,
} from './results.ts';

/** docs/api.md, "Groups and sums". */
const maxFields = 3;

export interface GroupSort {
  result: Result;
  descending: boolean;
}

/**
 * Reads the query parameter `sort`: sums, and fields by which records are grouped.
 * @throws ApiError invalid_sort
 */
export const parseGroupSort = (
  text: string | undefined,
  measures: Measures,
): readonly GroupSort[] => {
  if (text === undefined) return [];
  const known = new Map([...groupResults(measures), ...measuredResults(measures)]);
  const fields = text.split(',').map((part): GroupSort => {
    const descending = part.trim().startsWith('-');
    const name = part.trim().slice(descending ? 1 : 0);
    const result = known.get(name);
    if (result) return { result, descending };
    const message = `"sort": ${JSON.stringify(name.slice(0, 100))} is neither a group nor a sum of this call${nearestResult(name, [...known.keys()])}`;
    throw new ApiError('invalid_sort', message, {
      hint: `There is ${[...known.keys()].join(', ')}; "-" before it for descending.`,
    });
  });
  if (fields.length > maxFields)
    throw new ApiError('invalid_sort', `"sort": has more than ${maxFields} fields.`);
  return fields;
};

/** As lists are sorted: arrays and objects, null, texts, numbers, false, true. */
const rank = (value: Json): number => {
  if (value === null) return 1;
  if (typeof value === 'object') return 0;
  if (typeof value === 'string') return 2;
  if (typeof value === 'number') return 3;
  return value ? 5 : 4;
};

const compare = (a: Json, b: Json): number => {
  const difference = rank(a) - rank(b);
  if (difference !== 0) return difference;
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(String(b)));
  return typeof a === 'number' ? a - Number(b) : 0;
};

const bySize = (a: Group, b: Group): number =>
  b.count - a.count || (JSON.stringify(a.group) < JSON.stringify(b.group) ? -1 : 1);

/** The largest first where nothing else is asked. */
export const sortGroups = (groups: readonly Group[], sort: readonly GroupSort[]): Group[] =>
  [...groups].sort((a, b) => {
    for (const { result, descending } of sort) {
      const difference = compare(result(a), result(b));
      if (difference !== 0) return descending ? -difference : difference;
    }
    return bySize(a, b);
  });
