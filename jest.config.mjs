// Jest runs the TypeScript as it is: it lets Node erase the types. So there is no transformer.
export default {
  roots: ['<rootDir>/gateway', '<rootDir>/services', '<rootDir>/packages', '<rootDir>/examples'],
  testMatch: ['**/*.test.ts'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {},
  globalSetup: '<rootDir>/packages/testing/src/jest/global-setup.ts',
  globalTeardown: '<rootDir>/packages/testing/src/jest/global-teardown.ts',
  setupFiles: ['<rootDir>/packages/testing/src/jest/same-errors.ts'],
  maxWorkers: 2,
  testTimeout: 30_000,
};
