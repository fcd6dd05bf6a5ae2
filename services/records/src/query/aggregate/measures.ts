import type { GroupField } from './group-fields.ts';

export const measureNames = ['sum', 'avg', 'min', 'max'] as const;
export type MeasureName = (typeof measureNames)[number];

/** What a caller wants to know, before it is said which groups and in what order. */
export interface Measures {
  /** None: all records are one group. */
  groups: readonly GroupField[];
  /** In which days, weeks and months begin. */
  timeZone: string;
  measures: readonly { name: MeasureName; field: string }[];
  /** Of all measures, each once. */
  fields: readonly string[];
  /** Whose different values are counted. */
  distinct: string | undefined;
}
