/**
 * What every service is made of: settings, database, outbox, idempotency, sweeps, subscriptions, an app,
 * and a process that starts and stops in order. A service states what is its own with `defineService`,
 * chooses its adapters with `runnable`, and its main.ts runs that. Knows no rule of the product.
 */

export {
  type Adapters,
  createService,
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
export { knownSettings } from './known-settings.ts';
export * from './owner-verification.ts';
export * from './process/bus.ts';
export * from './process/run-service.ts';
export * from './process/stop.ts';
export * from './runnable-service.ts';
export * from './secrets-readiness.ts';
export * from './settings.ts';
export * from './usage.ts';
export * from './v8-options.ts';
export * from './visitor-budgets.ts';
export * from './window-counts.ts';
