/**
 * Owns: the servers that Backlot needs on this machine, started and stopped from Node, for
 * development and for tests. So far PostgreSQL.
 * Refuses: production. A deployment sets DATABASE_URL and never imports this package.
 */
export {
  type PostgresOptions,
  type RunningPostgres,
  removeThrowaway,
  startPostgres,
} from './postgres.ts';
