import type { Collection } from '../../collections/collections.ts';
import type { PlanKind, Queue, Step } from '../plan.ts';

/** How an answer was found: docs/api.md, "Why a call is slow". */
export interface PlanReport {
  /** Of the plan that had the answer, or was the last one. */
  kind: PlanKind;
  queue: Queue;
  /** Fields by whose indexes it was found. */
  indexes: string[];
  /** Kinds that came first and would have looked at too much. */
  tried: PlanKind[];
  /** Fields for which it looked through records, where an index would do. */
  wants: string[];
  /** Fields of the collection whose indexes are being made, where it wanted one. */
  building: string[];
  statements: number;
  waitedMs: number;
  ms: number;
}

export const newReport = (): PlanReport => ({
  kind: 'key',
  queue: 'none',
  indexes: [],
  tried: [],
  wants: [],
  building: [],
  statements: 0,
  waitedMs: 0,
  ms: 0,
});

const buildingFields = ({ slots }: Collection): string[] =>
  slots.filter(({ state }) => state === 'building').map(({ field }) => field);

/** Adds a step that is about to be run. */
export const beginStep = (
  report: PlanReport,
  { kind, queue, slots, wants }: Step,
  collection: Collection,
): void => {
  if (report.statements > 0 && report.kind !== kind) report.tried.push(report.kind);
  report.kind = kind;
  report.queue = queue;
  report.indexes = slots.map(({ field }) => field);
  if (wants.length === 0) return;
  report.wants = [...wants];
  report.building = buildingFields(collection);
};
