import type { Collection } from '../collections/collections.ts';
import type { Slot } from '../collections/stored/slots.ts';
import type { Statement } from '../sql.ts';
import type { Piece, PieceEnd } from './piece-statement.ts';

/**
 * How an answer is found. `key`: by the primary key; `exact`: along one stretch of an index that has the answer alone;
 * `index`: by an index, and tests of what it leads to; `scan`: through all records; `search`: by words.
 */
export type PlanKind = 'key' | 'exact' | 'index' | 'scan' | 'search';

/**
 * Where a plan waits for its turn: `none`, because it is as cheap as a get; `index` beside the scans, for what is short
 * whatever is asked; the others by how long scans of its kind took.
 */
export type Queue = 'none' | 'index' | 'quick-scans' | 'scans';

/**
 * Why a plan has no answer: the collection's indexes are others by now; it would look at more than it may, so that the
 * next plan has its turn; no plan may look at so much.
 */
export type Unanswered = 'stale' | 'unfinished' | 'exceeded';

export interface PlannedStatement extends Statement {
  /** Where PostgreSQL keeps it prepared. */
  name?: string;
}

export interface Step {
  kind: PlanKind;
  queue: Queue;
  slots: readonly Slot[];
  /** Fields for which it looks through records, where an index would do. */
  wants: readonly string[];
}

export interface StatementPlan<Answer> extends Step {
  statement: PlannedStatement;
  /** Of the statement's only row, as PostgreSQL's texts where it waits in no queue. */
  read: (row: unknown) => Answer | Unanswered;
  next?: (() => Plan<Answer>) | undefined;
}

/** Many statements, each for a piece of the records. */
export interface PiecesPlan<Answer> extends Step {
  pieces: Pieces<Answer>;
}

export type Plan<Answer> = StatementPlan<Answer> | PiecesPlan<Answer>;

export interface Pieces<Answer> {
  /** A piece that looks at keys alone has more of them. */
  of: 'records' | 'keys';
  most: number;
  begin: () => Gathering<Answer>;
}

export interface Gathering<Answer> {
  statement: (piece: Piece) => Statement;
  /** Adds what a piece has found. @returns whether it is enough */
  add: (row: PieceEnd) => boolean;
  /** @param isWhole whether the pieces came to the end of the records, or had enough */
  end: (isWhole: boolean) => Answer | Plan<Answer> | Unanswered;
}

/** Whether scans of a kind were quick lately; asked where it comes to one. */
export type IsQuick = () => boolean;

export const scanQueue = (isQuick: IsQuick): Queue => (isQuick() ? 'quick-scans' : 'scans');

/** What one statement by an index looks through, at most. */
export const indexStretch = { rows: 10_000, ms: 100 };

/** How an answer was found: docs/owners.md, "Why a call is slow". */
export interface PlanReport {
  /** Of the plan that had the answer, or was the last one. */
  kind: PlanKind;
  queue: Queue;
  indexes: string[];
  /** Kinds that came first and would have looked at too much. */
  tried: PlanKind[];
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
