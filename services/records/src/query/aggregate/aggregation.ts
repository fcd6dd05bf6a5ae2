import { ApiError } from '@backlot/contract';
import type { Filter } from '../../where/filter.ts';
import { checkField, parseGroupFields, parseTimeZone } from './group-fields.ts';
import { parseHaving } from './having.ts';
import { type MeasureName, type Measures, measureNames } from './measures.ts';
import { type GroupSort, parseGroupSort } from './sort-groups.ts';

/** docs/api.md, "Groups and sums". */
const maxFields = 3;

export interface Aggregation extends Measures {
  /** Of names that `measuredResults` has; undefined takes all groups. */
  having: Filter | undefined;
  sort: readonly GroupSort[];
  /** Whether `groupId` is the record's own and no field of the data. */
  knowsGroups?: boolean;
}

type AggregateQuery = {
  [name in MeasureName | 'group' | 'timeZone' | 'distinct' | 'having' | 'sort']?:
    | string
    | undefined;
};

const parseMeasures = (query: AggregateQuery): Measures => {
  const measures = measureNames.flatMap((name) =>
    (query[name]?.split(',') ?? []).map((field) => ({
      name,
      field: checkField(name, field.trim()),
    })),
  );
  const fields = [...new Set(measures.map(({ field }) => field))];
  if (fields.length > maxFields)
    throw new ApiError(
      'invalid_query',
      `"sum", "avg", "min" and "max" may name at most ${maxFields} fields together`,
    );
  const groups = parseGroupFields(query.group);
  const timeZone = parseTimeZone(query.timeZone, groups);
  const distinct =
    query.distinct === undefined ? undefined : checkField('distinct', query.distinct.trim());
  if (distinct?.includes(','))
    throw new ApiError('invalid_query', '"distinct" names one field', {
      hint: 'Ask once for each.',
    });
  return { groups, timeZone, measures, fields, distinct };
};

/** @throws ApiError invalid_query, invalid_sort */
export const parseAggregation = (query: AggregateQuery): Aggregation => {
  const measures = parseMeasures(query);
  const having = parseHaving(query.having, measures);
  const sort = parseGroupSort(query.sort, measures);
  return { ...measures, having, sort };
};
