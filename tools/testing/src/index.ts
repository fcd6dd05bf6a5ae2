/**
 * Owns: what tests of more than one package need, such as an empty database and bounded waiting.
 * Refuses: to be imported by anything but tests.
 */

/** For tests that kill and restart a server: one of their own. */
export {
  findFreePort,
  findServer,
  type RunningExim,
  type RunningPgbouncer,
  type RunningPostgres,
  type RunningRabbitmq,
  type RunningRedis,
  startExim,
  startPgbouncer,
  startPostgres,
  startRabbitmq,
  startRedis,
} from '@backlot/local-servers';
export * from './event-stream.ts';
export * from './find-test-route.ts';
export * from './identities.ts';
export { makeRandomContent } from './random-content.ts';
export * from './refuses-strangers.ts';
export { createTestBroker, type TestBroker } from './servers/test-broker.ts';
export {
  countLockWaits,
  findOtherNodes,
  type OtherNodes,
  withTableAlone,
} from './servers/test-cluster.ts';
export {
  createFilledDatabase,
  createTestDatabase,
  type TestDatabase,
} from './servers/test-database.ts';
export { createTestProxy, type TestProxy } from './servers/test-proxy.ts';
export { createTestRedis, type TestRedis } from './servers/test-redis.ts';
export { createTestS3, type TestS3 } from './servers/test-s3.ts';
export * from './serves-as-process.ts';
export * from './service-bed.ts';
export {
  createServiceDatabase,
  migrateForService,
  type ServiceDatabase,
} from './service-database.ts';
export * from './service-under-test.ts';
export { type UntilOptions, until } from './until.ts';
