import type { Slot } from '../collections/stored/slots.ts';
import type { Slice } from './slice-statement.ts';

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

export interface PlannedStatement {
  /** Of a prepared one. */
  name?: string;
  text: string;
  values: readonly unknown[];
}

export interface Step {
  kind: PlanKind;
  queue: Queue;
  /** The indexes that it goes by. */
  slots: readonly Slot[];
  /** Fields for which it looks through records, where an index would do. */
  wants: readonly string[];
}

/** One statement. */
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

/** Where a piece has ended. */
export interface PieceEnd {
  /** The record that the following piece begins with; null behind the last one. */
  next: string | null;
  /** Records that it looked at. */
  looked: number;
}

export interface Pieces<Answer> {
  /** A piece that looks at keys alone has more of them. */
  of: 'records' | 'keys';
  /** Looked at by all pieces together, at most. */
  most: number;
  /** What one run gathers. */
  begin: () => Gathering<Answer>;
}

export interface Gathering<Answer> {
  statement: (slice: Slice) => PlannedStatement;
  /** Adds what a piece has found. @returns whether it is enough */
  add: (row: PieceEnd) => boolean;
  /** @param isWhole whether the pieces came to the end of the records, or had enough */
  end: (isWhole: boolean) => Answer | Plan<Answer> | Unanswered;
}

export const isUnanswered = (outcome: unknown): outcome is Unanswered =>
  typeof outcome === 'string';

export const isPlan = <Answer>(
  outcome: Answer | Plan<Answer> | Unanswered,
): outcome is Plan<Answer> =>
  typeof outcome === 'object' &&
  outcome !== null &&
  ('pieces' in outcome || 'statement' in outcome);

export const nextAfter = <Answer>(plan: Plan<Answer>, why: Unanswered): Plan<Answer> | undefined =>
  why === 'unfinished' && 'statement' in plan ? plan.next?.() : undefined;

/** Whether scans of a kind were quick lately; asked where it comes to one. */
export type IsQuick = () => boolean;

export const scanQueue = (isQuick: IsQuick): Queue => (isQuick() ? 'quick-scans' : 'scans');

/** What one statement by an index looks through, at most. */
export const indexStretch = { rows: 10_000, ms: 100 };
