import { ApiError, planHeader } from '@backlot/contract';
import { type Database, StatementTimeout } from '@backlot/database';
import type { FairShares, YieldSlot } from '@backlot/fair-shares';
import type { Collections } from '../collections/collections.ts';
import { onCurrentSlots, StaleSlots } from '../collections/current-slots.ts';
import type { Observations } from '../indexes/observations.ts';
import type { PieceEnd } from '../query/piece-statement.ts';
import {
  beginStep,
  type IsQuick,
  newReport,
  type PiecesPlan,
  type Plan,
  type PlanReport,
  type Queue,
  type StatementPlan,
  type Unanswered,
} from '../query/plan.ts';
import type { Selection } from '../query/selection.ts';
import type { Reader } from '../reader.ts';
import { createQuickScans } from './quick-scans.ts';
import { keyPieceBounds, type PieceBounds, usualPieceBounds, walkPieces } from './walk-pieces.ts';

/** Told how each answer was found, and of failures that say more than their error. */
export interface PlanReader extends Reader {
  report?: (report: PlanReport) => void;
}

export interface PlanRunnerDeps {
  database: Database;
  refresh: Collections['refresh'];
  scans: FairShares;
  quickScans: FairShares;
  observations?: Observations | undefined;
  pieceBounds?: PieceBounds | undefined;
}

export interface Question<Asked extends Selection, Answer> {
  asked: Asked;
  plan: (current: Asked, isQuick: IsQuick) => Plan<Answer>;
  /** @param cause the statement's time-out, where one has ended it */
  tooExpensive: (cause: unknown) => unknown;
}

/** @throws ApiError as the question says, conflict; FairShareFull */
export type RunPlans = <Asked extends Selection, Answer>(
  question: Question<Asked, Answer>,
  reader: PlanReader,
) => Promise<Answer>;

/** While an index makes itself, a scan that it will spare may take so many times longer. */
const patienceWhileBuilding = 10;

const isUnanswered = (outcome: unknown): outcome is Unanswered => typeof outcome === 'string';

const isPlan = <Answer>(outcome: Answer | Plan<Answer> | Unanswered): outcome is Plan<Answer> =>
  typeof outcome === 'object' &&
  outcome !== null &&
  ('pieces' in outcome || 'statement' in outcome);

const nextAfter = <Answer>(plan: Plan<Answer>, why: Unanswered): Plan<Answer> | undefined =>
  why === 'unfinished' && 'statement' in plan ? plan.next?.() : undefined;

interface Run<Asked> {
  asked: Asked;
  reader: PlanReader;
  report: PlanReport;
  tooExpensive: (cause: unknown) => unknown;
  /** Set once it has had its turn in a queue. */
  yieldSlot?: YieldSlot;
  cause?: unknown;
}

/**
 * Runs plans, and nothing else does: waits for their turns, begins anew where the collection's indexes have changed,
 * goes on with the next plan where one would look at too much, and tells the observer of indexes.
 */
export const createPlanRunner = ({
  database,
  refresh,
  scans,
  quickScans,
  observations,
  pieceBounds = usualPieceBounds,
}: PlanRunnerDeps): RunPlans => {
  const { isQuick, learn } = createQuickScans(pieceBounds.quickMs);
  const queues: Record<Exclude<Queue, 'none'>, { shares: FairShares; isQuick: boolean }> = {
    index: { shares: scans, isQuick: true },
    'quick-scans': { shares: quickScans, isQuick: false },
    scans: { shares: scans, isQuick: false },
  };

  const send = async ({ kind, queue, statement }: StatementPlan<unknown>): Promise<unknown> => {
    const { name = '', text, values } = statement;
    if (queue === 'none') return (await database.read(name, text, values))[0] ?? [];
    if (name !== '') return (await database.named(name, text, values))[0];
    const query = kind === 'key' ? database.query : database.scan;
    return (await query(text, values))[0];
  };

  const runPieces = async <Answer>({ pieces }: PiecesPlan<Answer>, run: Run<Selection>) => {
    const { statement, add, end } = pieces.begin();
    const cut = pieces.of === 'keys' ? keyPieceBounds(pieceBounds) : pieceBounds;
    const patience = run.report.building.length > 0 ? patienceWhileBuilding : 1;
    const isWhole = await walkPieces(
      async (piece) => {
        const { text, values } = statement(piece);
        run.report.statements += 1;
        const [row] = await database.scan<PieceEnd>(text, values);
        return row ? { ...row, isEnough: add(row) } : { next: null, looked: 0 };
      },
      pieces.most,
      { ...cut, workMs: cut.workMs * patience },
      run.yieldSlot ?? (async () => {}),
    ).catch((error: unknown) => noteTimeout(error, run));
    return end(isWhole);
  };

  const noteTimeout = (error: unknown, run: Run<Selection>): false => {
    if (!(error instanceof StatementTimeout)) throw error;
    run.cause = error;
    return false;
  };

  const runStep = async <Answer>(plan: Plan<Answer>, run: Run<Selection>) => {
    if ('pieces' in plan) return runPieces(plan, run);
    run.report.statements += 1;
    try {
      return plan.read(await send(plan));
    } catch (error) {
      if (plan.kind === 'key') throw error;
      noteTimeout(error, run);
      return 'unfinished' as const;
    }
  };

  const observeScan = (
    plan: Plan<unknown>,
    run: Run<Selection>,
    ms: number,
    isAnswered: boolean,
  ) => {
    const isSlow = !isAnswered || ('pieces' in plan && ms > pieceBounds.pieceMs);
    observations?.scanned(run.asked, plan.wants, { ms, isSlow });
    learn(run.asked, isSlow ? Math.max(ms, pieceBounds.pieceMs) : ms);
  };

  const attempt = async <Answer>(plan: Plan<Answer>, run: Run<Selection>): Promise<Answer> => {
    const { report } = run;
    const isFirstScan = plan.kind === 'scan' && report.kind !== 'scan';
    beginStep(report, plan, run.asked.collection);
    const startedAt = performance.now();
    const outcome: Answer | Plan<Answer> | Unanswered = await runStep(plan, run);
    if (isFirstScan) observeScan(plan, run, performance.now() - startedAt, !isUnanswered(outcome));
    if (outcome === 'stale') throw new StaleSlots();
    if (!isUnanswered(outcome) && !isPlan(outcome)) {
      for (const slot of plan.slots) observations?.used(run.asked.collection, slot);
      return outcome;
    }
    const next = isPlan(outcome) ? outcome : nextAfter(plan, outcome);
    if (!next) throw run.tooExpensive(run.cause);
    const turn: Promise<void> | undefined = 'pieces' in next ? undefined : run.yieldSlot?.();
    await turn;
    return enter(next, run);
  };

  /** In its queue, unless the run has had its turn in one. */
  const enter = <Answer>(plan: Plan<Answer>, run: Run<Selection>): Promise<Answer> => {
    const { queue } = plan;
    if (queue === 'none' || run.yieldSlot) return attempt(plan, run);
    const { shares, isQuick } = queues[queue];
    const { reader, report } = run;
    const askedAt = performance.now();
    return shares.run(
      reader.requester,
      (yieldSlot) => {
        report.waitedMs = performance.now() - askedAt;
        return attempt(plan, { ...run, yieldSlot });
      },
      { isQuick, signal: reader.signal },
    );
  };

  return async ({ asked, plan, tooExpensive }, reader) => {
    const startedAt = performance.now();
    let report = newReport();
    try {
      return await onCurrentSlots(refresh, asked, (current) => {
        report = newReport();
        const run = { asked: current, reader, report, tooExpensive };
        return enter(
          plan(current, () => isQuick(current)),
          run,
        );
      });
    } catch (error) {
      if (error instanceof ApiError) error.headers[planHeader] = report.kind;
      throw error;
    } finally {
      report.ms = performance.now() - startedAt - report.waitedMs;
      reader.report?.(report);
    }
  };
};
