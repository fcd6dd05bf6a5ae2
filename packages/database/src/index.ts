/**
 * The one way to PostgreSQL: pool, transactions, batched calls, migrations, roles, the outbox and
 * typed queries.
 * Owns no table of its own; knows no tenant, no route and no rule of the product.
 */

export * from './batched-calls.ts';
export {
  mostConnections,
  type PoolUsage,
  scanConnections,
  writeConnections,
} from './connection/pools.ts';
export type { BytesRow, TextRow } from './connection/raw-read.ts';
export { requireOwnSessions, SessionsShared } from './connection/session.ts';
export { createDatabase } from './create-database.ts';
export * from './database.ts';
export * from './delete-expired.ts';
export * from './errors.ts';
export type { DatabaseTrouble } from './health.ts';
export * from './migrate/migrate.ts';
export * from './migrate/migration-status.ts';
export { otherRole, retireRoles } from './migrate/retire-role.ts';
export { addressFor, mayCreateRoles, roleIn, type ServiceRole } from './migrate/service-role.ts';
export { type LockWaitOptions, lockWaitsFor } from './migrate/short-lock-waits.ts';
export * from './outbox.ts';
export * from './sweeper.ts';
export * from './traced-database.ts';
export type { NamedStatement, TransactionOptions } from './transactions.ts';
export * from './typed-queries.ts';
