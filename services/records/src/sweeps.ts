import { createForwarder, forwardEveryMs } from './app-events/forward.ts';
import { beginLog, keepLogBytes, keepLogDays } from './change-log/keep-log.ts';
import { createCollectionEraser } from './erasure/erasure.ts';
import { forgetTraffic, reportEveryMs as reportTrafficEveryMs } from './exposure/traffic.ts';
import type { Features, RecordsContext } from './features.ts';
import { createLimitsBuilder, forgetCounts } from './indexes/build-limits.ts';
import { createSearchBuilder } from './indexes/build-search.ts';
import { buildEveryMs, createSlotBuilder } from './indexes/build-slots.ts';
import { createUniqueBuilder } from './indexes/build-unique.ts';
import { createGlance } from './indexes/building/glance.ts';
import { forgetObservations, reportEveryMs } from './indexes/observations.ts';
import { createWordsRenewal } from './indexes/renew-words.ts';
import { countCollections, foldEveryMs, foldTotals } from './record/quota/totals.ts';
import { createReportRunner } from './reports/run-reports.ts';
import { createUndoRunner } from './undo/run-undo.ts';

const noticeEveryMs = 2000;

/** What records do by themselves. */
export const createSweeps = (context: RecordsContext, features: Features) => {
  const { database, outbox, now } = context;
  const { collections, deletionNotices, findings, liveSweeps, observations } = features;
  const { checks, quota, reports, send, slots, traffic, userEraser } = features;
  const glance = createGlance(database);
  return [
    { run: () => foldTotals(database), everyMs: foldEveryMs },
    ...liveSweeps,
    { run: () => keepLogDays(database, context.config.history, now) },
    { run: () => keepLogBytes(database, context.config.history) },
    { run: () => beginLog(database) },
    { run: glance.before(createForwarder(database, outbox)), everyMs: forwardEveryMs },
    { run: () => countCollections(database) },
    { run: glance.before(createSlotBuilder({ database, outbox })), everyMs: buildEveryMs },
    { run: glance.before(createUniqueBuilder({ database, outbox, quota })), everyMs: buildEveryMs },
    { run: glance.before(createSearchBuilder({ database, outbox, quota })), everyMs: buildEveryMs },
    { run: glance.before(createLimitsBuilder({ database, outbox, quota })), everyMs: buildEveryMs },
    { run: () => forgetCounts(database, now) },
    { run: glance.before(createWordsRenewal(database, outbox)), everyMs: buildEveryMs },
    { run: glance.before(createReportRunner(database, now)), everyMs: buildEveryMs },
    { run: () => deletionNotices.run(), everyMs: noticeEveryMs },
    {
      run: glance.before(createUndoRunner({ database, collections, send, checks, quota, now })),
      everyMs: buildEveryMs,
    },
    { run: glance.before(createCollectionEraser(database, outbox)), everyMs: buildEveryMs },
    { run: glance.before(userEraser), everyMs: buildEveryMs },
    { run: () => reports.sweep() },
    { run: () => observations.report(), everyMs: reportEveryMs },
    { run: () => slots.dropUnused() },
    { run: () => forgetObservations(database, now) },
    { run: () => traffic.report(), everyMs: reportTrafficEveryMs },
    { run: () => forgetTraffic(database, now) },
    findings.sweep,
  ];
};
