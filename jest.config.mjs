// Jest runs the TypeScript as it is: it lets Node erase the types. So there is no transformer.
export default {
  roots: ['gateway', 'services', 'packages', 'tools', 'examples'].map(
    (folder) => `<rootDir>/${folder}`,
  ),
  testMatch: ['**/*.test.ts'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {},
  globalSetup: '<rootDir>/tools/testing/src/jest/global-setup.ts',
  globalTeardown: '<rootDir>/tools/testing/src/jest/global-teardown.ts',
  setupFiles: ['<rootDir>/tools/testing/src/jest/same-errors.ts'],
  maxWorkers: 2,
  // What a test file has loaded stays in its worker, which ended at 4 GB.
  workerIdleMemoryLimit: '2GB',
  testTimeout: 30_000,
};
