import { ApiError } from '@backlot/contract';
import { pathProblem, severalNamed } from '../fields.ts';

/** docs/api.md, "Groups and sums". */
const maxFields = 3;

export const measureNames = ['sum', 'avg', 'min', 'max'] as const;
export type MeasureName = (typeof measureNames)[number];

/** What a caller wants to know of each group. */
export interface Aggregation {
  group: string | undefined;
  measures: readonly { name: MeasureName; field: string }[];
  /** Of all measures, each once. */
  fields: readonly string[];
}

const refuse = (message: string): never => {
  throw new ApiError('invalid_query', message);
};

/** `createdAt:day`, `day(createdAt)` and `date(createdAt)`. */
const datePart =
  /^[\w.]+:(second|minute|hour|day|date|week|month|quarter|year|weekday)$|^\w+\(.*\)$/i;

/** @throws ApiError invalid_query where it asks for what groups can not be by */
const checkGroupField = (group: string): string => {
  const quoted = JSON.stringify(group.slice(0, 100));
  if (severalNamed(group))
    throw new ApiError(
      'invalid_query',
      `"group": ${quoted} names several fields; one is possible`,
      {
        hint: 'Keep both in one field of the record and group by that, or ask once for each value of the other: group=user&where={"post":"..."}.',
      },
    );
  if (datePart.test(group))
    throw new ApiError(
      'invalid_query',
      `"group": ${quoted} is no field; groups by parts of a date, or by functions, are not there yet`,
      {
        hint: 'Keep the day in a field of the record, such as {"day":"2026-01-31"}, and group by that; or count each span: where={"createdAt":{"$gte":"2026-01-31","$lt":"2026-02-01"}}.',
      },
    );
  return checkField('group', group);
};

const checkField = (parameter: string, field: string): string => {
  if (field === '') refuse(`"${parameter}" needs the name of a field`);
  const problem = pathProblem(field);
  if (problem) refuse(`"${parameter}": the field ${JSON.stringify(field)} ${problem}`);
  return field;
};

/** @throws ApiError invalid_query */
export const parseAggregation = (
  query: { [name in MeasureName | 'group']?: string | undefined },
): Aggregation => {
  const measures = measureNames.flatMap((name) =>
    (query[name]?.split(',') ?? []).map((field) => ({
      name,
      field: checkField(name, field.trim()),
    })),
  );
  const fields = [...new Set(measures.map(({ field }) => field))];
  if (fields.length > maxFields)
    refuse(`"sum", "avg", "min" and "max" may name at most ${maxFields} fields together`);
  const group = query.group === undefined ? undefined : checkGroupField(query.group);
  return { group, measures, fields };
};
