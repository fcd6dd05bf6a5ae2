/**
 * Owns: the servers that Backlot needs on this machine, started and stopped from Node, for
 * development and for tests: PostgreSQL, PgBouncer, Redis, RabbitMQ, S3, and exim as
 * a mail server.
 * Refuses: production. A deployment sets the URLs of its servers and never imports this package.
 */
export { type EximOptions, type RunningExim, startExim } from './exim.ts';
export { type PgbouncerOptions, type RunningPgbouncer, startPgbouncer } from './pgbouncer.ts';
export {
  type PostgresOptions,
  type RunningPostgres,
  removeThrowaway,
  startPostgres,
} from './postgres/postgres.ts';
export { findFreePort } from './process/free-port.ts';
export { type HeldLock, tryLock } from './process/lock.ts';
export type { OwnServer } from './process/own-server.ts';
export { findServer } from './process/program-ladder.ts';
export { removeThrowawayServer } from './process/server-folder.ts';
export { type RabbitmqOptions, type RunningRabbitmq, startRabbitmq } from './rabbitmq.ts';
export { type RedisOptions, type RunningRedis, startRedis } from './redis.ts';
export { type RunningS3, type S3Access, startS3 } from './s3/s3.ts';
