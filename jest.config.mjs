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
  // What a test file has loaded stays in its worker: 30 MB each. At 900 MB a collection of garbage takes
  // more than a second, at 4 GB the worker ends.
  workerIdleMemoryLimit: '640MB',
  // Ten times as long as the longest takes on a quiet machine; `until` gives up sooner, and says on what.
  testTimeout: 180_000,
};
