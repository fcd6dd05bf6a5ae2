import { ApiError, recordRoutes } from '@backlot/contract';
import { type Database, StatementTimeout } from '@backlot/database';
import type { FairShares, YieldSlot } from '@backlot/fair-shares';
import { checkRead } from '../collections/access.ts';
import { pathProblem, severalNamed } from '../fields.ts';
import { aggregateSlice, columnsOfField, type GroupState } from '../query/aggregate-statement.ts';
import type { ReadLimits } from '../query/list-statement.ts';
import type { Selection } from '../query/selection.ts';
import type { Slice } from '../query/slice-statement.ts';
import type { Reader } from '../reader.ts';
import { type SliceEnd, type Slicing, usualSlicing, walkInSlices } from './slices/slices.ts';

const { maxGroups } = recordRoutes;
/** docs/api.md, "Groups and sums". */
const maxFields = 3;

const measureNames = ['sum', 'avg', 'min', 'max'] as const;
type MeasureName = (typeof measureNames)[number];
type Measured = number | string | null;

/** What a caller wants to know of each group. */
export interface Aggregation {
  group: string | undefined;
  measures: readonly { name: MeasureName; field: string }[];
  /** Of all measures, each once. */
  fields: readonly string[];
}

export type Group = { group?: unknown; count: number } & {
  [name in MeasureName]?: Record<string, Measured>;
};

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
      ...{ name, field: checkField(name, field.trim()) },
    })),
  );
  const fields = [...new Set(measures.map(({ field }) => field))];
  if (fields.length > maxFields)
    refuse(`"sum", "avg", "min" and "max" may name at most ${maxFields} fields together`);
  const group = query.group === undefined ? undefined : checkGroupField(query.group);
  return { group, measures, fields };
};

export interface Groups {
  groups: Group[];
  /** Fields that were asked for and that no record had, as far as the groups show. */
  missing: string[];
}

export interface Aggregates {
  /**
   * @param selection null where there is no such collection
   * @throws ApiError unauthenticated, query_too_expensive; FairShareFull
   */
  groups(selection: Selection | null, aggregation: Aggregation, reader: Reader): Promise<Groups>;
}

export interface AggregatesDeps {
  database: Database;
  limits: ReadLimits;
  scans: FairShares;
  slicing?: Slicing;
}

const tooExpensive = (message: string) =>
  new ApiError('query_too_expensive', message, {
    hint: 'Narrow it down with "where", for example by "createdAt".',
  });

const toNumber = (text: Measured | undefined, field: string): number | null => {
  if (text === null || text === undefined) return null;
  const number = Number(text);
  return Number.isFinite(number)
    ? number
    : refuse(`The sum of ${JSON.stringify(field)} is too large for a number`);
};

const toGroup = (state: GroupState, { group, measures, fields }: Aggregation): Group => {
  const [value, count, ...columns] = state;
  const shown: Group = group === undefined ? { count } : { group: value, count };
  for (const { name, field } of measures) {
    const start = fields.indexOf(field) * columnsOfField;
    const [sum, numbers, least, largest, first, last] = columns.slice(
      start,
      start + columnsOfField,
    );
    const total = toNumber(sum, field);
    const measured: { [name in MeasureName]: Measured } = {
      sum: total ?? 0,
      avg: total === null ? null : total / Number(numbers),
      min: toNumber(least, field) ?? first ?? null,
      max: toNumber(largest, field) ?? last ?? null,
    };
    shown[name] = { ...shown[name], [field]: measured[name] };
  }
  return shown;
};

const isWithout = (state: GroupState, field: number): boolean => {
  const start = 2 + columnsOfField * field;
  const [, numbers, , , first] = state.slice(start, start + columnsOfField);
  return Number(numbers) === 0 && first === null;
};

const findMissing = (states: readonly GroupState[], { group, fields }: Aggregation): string[] => {
  if (states.length === 0) return [];
  const measured = fields.filter((_, i) => states.every((state) => isWithout(state, i)));
  const isUngrouped = group !== undefined && states.every(([value]) => value === null);
  return isUngrouped ? [group, ...measured] : measured;
};

const bySize = (a: GroupState, b: GroupState): number =>
  b[1] - a[1] || (JSON.stringify(a[0]) < JSON.stringify(b[0]) ? -1 : 1);

/** Counts and sums in the pieces of a scan, as filtered counts are made. */
export const createAggregates = ({
  database,
  limits,
  scans,
  slicing = usualSlicing,
}: AggregatesDeps): Aggregates => {
  const scan = async (selection: Selection, aggregation: Aggregation, yieldSlot: YieldSlot) => {
    let states: GroupState[] = [];
    const field = JSON.stringify(aggregation.group ?? aggregation.fields[0] ?? 'id');
    const look = async (slice: Slice): Promise<SliceEnd> => {
      const { text, values } = aggregateSlice(selection, slice, aggregation, states, maxGroups);
      const [piece] = await database.scan<
        SliceEnd & { groups: GroupState[]; hasLongKeys: boolean }
      >(text, values);
      if (!piece) return { next: null, looked: 0 };
      if (piece.hasLongKeys) refuse(`"group": values of ${field} are longer than 512 bytes`);
      if (piece.groups.length > maxGroups)
        throw tooExpensive(`The field ${field} has more than ${maxGroups} values.`);
      states = piece.groups;
      return piece;
    };
    const isWhole = await walkInSlices(look, limits.scanRows, slicing, yieldSlot).catch(
      (error: unknown) => {
        if (error instanceof StatementTimeout) return false;
        throw error;
      },
    );
    if (isWhole) return states;
    throw tooExpensive(
      `This would read more than ${limits.scanRows} records for ${field}, or look for longer than a second.`,
    );
  };

  return {
    async groups(selection, aggregation, { flow, signal }) {
      if (selection) checkRead(selection.access);
      const states =
        !selection || selection.access.rights.read === 'none'
          ? []
          : await scans.run(flow, (yieldSlot) => scan(selection, aggregation, yieldSlot), {
              signal,
            });
      const none: GroupState = [null, 0];
      const all = states.length === 0 && aggregation.group === undefined ? [none] : states;
      const groups = all.sort(bySize).map((state) => toGroup(state, aggregation));
      return { groups, missing: findMissing(states, aggregation) };
    },
  };
};
