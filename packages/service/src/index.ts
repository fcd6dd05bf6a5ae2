/**
 * What every service is made of: settings, database, outbox, idempotency, sweeps, subscriptions, an app,
 * and a process that starts and stops in order. A service states what is its own with `defineService`,
 * chooses its adapters with `runnable`, and its main.ts runs that. Knows no rule of the product.
 */

export * from './app-events.ts';
export * from './asking-caller.ts';
export { createService } from './create-service.ts';
export {
  type Adapters,
  defineService,
  type Service,
  type ServiceContext,
  type ServiceDefinition,
  type ServiceDeps,
  type ServiceOf,
  type ServiceParts,
  type Sweep,
} from './define-service.ts';
export { keepAnswersSql } from './idempotency/idempotency.ts';
export * from './note-findings.ts';
export * from './owner-verification.ts';
export * from './process/bus.ts';
export { reportRefusal } from './process/refusals.ts';
export * from './process/run-service.ts';
export * from './process/stop.ts';
export {
  type ArchiveStore,
  archivedObject,
  archiveRouter,
  createArchivePart,
  invalidArchive,
  readArchiveLines,
  toArchiveLines,
  toOutcome,
} from './project-parts/archive-part.ts';
export {
  type ConfigStore,
  configRouter,
  createConfigPart,
  namingEntry,
} from './project-parts/config-part.ts';
export * from './runnable-service.ts';
export { type SealStore, sealedColumn } from './seals/sealed-column.ts';
export * from './secrets-readiness.ts';
export { knownSettings } from './settings/known-settings.ts';
export * from './settings/settings.ts';
export { redisSteps } from './trace-steps.ts';
export * from './usage/usage.ts';
export * from './usage/visitor-budgets.ts';
export * from './usage/window-counts.ts';
export * from './v8-options.ts';
export * from './watch-server.ts';
