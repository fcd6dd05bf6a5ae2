import { nearestName } from '@backlot/http';
import type { Json } from '../../where/filter.ts';
import type { MeasureName, Measures } from './measures.ts';

export type Measured = number | string | null;

/** A group as it is answered. */
export type Group = { group?: unknown; count: number; distinct?: Record<string, number> } & {
  [name in MeasureName]?: Record<string, Measured>;
};

/** The value of a group, by what it is called in `having` and `sort`. */
export type Result = (group: Group) => Json;

/** `count`, `sum.price`, `distinct.visitor`, each where it was asked for. */
export const measuredResults = ({ measures, distinct }: Measures): Map<string, Result> =>
  new Map<string, Result>([
    ['count', ({ count }) => count],
    ...measures.map(({ name, field }): [string, Result] => [
      `${name}.${field}`,
      (group) => group[name]?.[field] ?? null,
    ]),
    ...(distinct === undefined
      ? []
      : [[`distinct.${distinct}`, (group) => group.distinct?.[distinct] ?? 0] as [string, Result]]),
  ]);

/** The fields by which records are grouped, as they were asked for. */
export const groupResults = ({ groups }: Measures): Map<string, Result> =>
  new Map(
    groups.map(({ name }, i): [string, Result] => [
      name,
      ({ group }) => (groups.length === 1 ? group : (group as Json[])[i]) as Json,
    ]),
  );

/** For a message: what was meant by a name that there is not. */
export const nearestResult = (name: string, known: readonly string[]): string => {
  const nearest = known.find((one) => one.endsWith(`.${name}`)) ?? nearestName(name, known);
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
};
