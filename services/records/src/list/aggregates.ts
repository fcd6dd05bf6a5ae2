import { ApiError } from '@backlot/contract';
import { checkRead } from '../collections/access.ts';
import { columnsOfField } from '../query/aggregate/aggregate-statement.ts';
import type { Aggregation } from '../query/aggregate/aggregation.ts';
import { unknownTimeZone } from '../query/aggregate/group-fields.ts';
import { filterGroups } from '../query/aggregate/having.ts';
import type { MeasureName } from '../query/aggregate/measures.ts';
import type { Group, Measured } from '../query/aggregate/results.ts';
import { sortGroups } from '../query/aggregate/sort-groups.ts';
import type { ReadLimits } from '../query/list-statement.ts';
import {
  type CountedGroup,
  namedFields,
  planGroups,
  tooManyToGroup,
} from '../query/plans/groups-plan.ts';
import type { Selection } from '../query/selection.ts';
import { createPlanRunner, type PlanReader, type PlanRunnerDeps } from './run-plans.ts';

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
  groups(
    selection: Selection | null,
    aggregation: Aggregation,
    reader: PlanReader,
  ): Promise<Groups>;
}

export interface AggregatesDeps extends PlanRunnerDeps {
  limits: ReadLimits;
}

const refuse = (message: string): never => {
  throw new ApiError('invalid_query', message);
};

const toNumber = (text: Measured | undefined, field: string): number | null => {
  if (text === null || text === undefined) return null;
  const number = Number(text);
  return Number.isFinite(number)
    ? number
    : refuse(`The sum of ${JSON.stringify(field)} is too large for a number`);
};

const toGroup = (
  { state, distinct }: CountedGroup,
  { groups, measures, fields, distinct: counted }: Aggregation,
): Group => {
  const [value, count, ...columns] = state;
  const shown: Group = groups.length === 0 ? { count } : { group: value, count };
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
  if (counted !== undefined) shown.distinct = { [counted]: distinct };
  return shown;
};

const isWithout = ({ state }: CountedGroup, field: number): boolean => {
  const start = 2 + columnsOfField * field;
  const [, numbers, , , first] = state.slice(start, start + columnsOfField);
  return Number(numbers) === 0 && first === null;
};

const findMissing = (
  found: readonly CountedGroup[],
  { groups, fields, distinct }: Aggregation,
): string[] => {
  if (found.length === 0) return [];
  const ungrouped = groups.filter((_, i) =>
    found.every(({ state: [value] }) => (groups.length > 1 ? Object(value)[i] : value) === null),
  );
  const measured = fields.filter((_, i) => found.every((group) => isWithout(group, i)));
  const isUncounted = distinct !== undefined && found.every((group) => group.distinct === 0);
  return [...ungrouped.map(({ field }) => field), ...measured, ...(isUncounted ? [distinct] : [])];
};

/** PostgreSQL: invalid_parameter_value. */
const isUnknownZone = (error: unknown): boolean =>
  (error as { code?: string }).code === '22023' && /time zone/.test(String(error));

export const createAggregates = ({ limits, ...deps }: AggregatesDeps): Aggregates => {
  const run = createPlanRunner(deps);

  const find = (asked: Selection, aggregation: Aggregation, reader: PlanReader) => {
    const fields = namedFields(aggregation);
    return run(
      {
        asked,
        plan: (selection, isQuick) => planGroups(selection, aggregation, limits, isQuick),
        tooExpensive: () =>
          tooManyToGroup(
            `This would read more than ${limits.scanRows} records for ${fields}, or look for longer than a second.`,
          ),
      },
      reader,
    ).catch((error: unknown) => {
      // Intl knows more of them than this database.
      throw isUnknownZone(error) ? unknownTimeZone(aggregation.timeZone) : error;
    });
  };

  return {
    async groups(selection, aggregation, reader) {
      if (selection) checkRead(selection.access);
      const isEmpty = !selection || selection.access.rights.read === 'none';
      const found = isEmpty ? [] : await find(selection, aggregation, reader);
      const none: CountedGroup = { state: [null, 0], distinct: 0 };
      const all = found.length === 0 && aggregation.groups.length === 0 ? [none] : found;
      const groups = all.map((group) => toGroup(group, aggregation));
      const asked = filterGroups(groups, aggregation.having, aggregation);
      return {
        groups: sortGroups(asked, aggregation.sort),
        missing: findMissing(found, aggregation),
      };
    },
  };
};
