import { ApiError } from '@backlot/contract';
import { checkRead } from '../collections/access.ts';
import { columnsOfField, type GroupState } from '../query/aggregate-statement.ts';
import type { Aggregation, MeasureName } from '../query/aggregation.ts';
import type { ReadLimits } from '../query/list-statement.ts';
import { planGroups, tooManyToGroup } from '../query/plans/groups-plan.ts';
import type { Selection } from '../query/selection.ts';
import { createPlanRunner, type PlanReader, type PlanRunnerDeps } from './run-plans.ts';

type Measured = number | string | null;

export type Group = { group?: unknown; count: number } & {
  [name in MeasureName]?: Record<string, Measured>;
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

/** Counts and sums of groups. */
export const createAggregates = ({ limits, ...deps }: AggregatesDeps): Aggregates => {
  const run = createPlanRunner(deps);

  const find = (asked: Selection, aggregation: Aggregation, reader: PlanReader) => {
    const field = JSON.stringify(aggregation.group ?? aggregation.fields[0] ?? 'id');
    return run(
      {
        asked,
        plan: (selection, isQuick) => planGroups(selection, aggregation, limits, isQuick),
        tooExpensive: () =>
          tooManyToGroup(
            `This would read more than ${limits.scanRows} records for ${field}, or look for longer than a second.`,
          ),
      },
      reader,
    );
  };

  return {
    async groups(selection, aggregation, reader) {
      if (selection) checkRead(selection.access);
      const isEmpty = !selection || selection.access.rights.read === 'none';
      const states = isEmpty ? [] : await find(selection, aggregation, reader);
      const none: GroupState = [null, 0];
      const all = states.length === 0 && aggregation.group === undefined ? [none] : states;
      const groups = all.sort(bySize).map((state) => toGroup(state, aggregation));
      return { groups, missing: findMissing(states, aggregation) };
    },
  };
};
