/**
 * Owns: what tests of more than one package need, such as an empty database and bounded waiting.
 * Refuses: to be imported by anything but tests.
 */
export { createTestDatabase, type TestDatabase } from './test-database.ts';
export { until, type UntilOptions } from './until.ts';
export * from './identities.ts';
export * from './refuses-strangers.ts';
export * from './service-under-test.ts';
