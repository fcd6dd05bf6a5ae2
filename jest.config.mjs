// Node loads the TypeScript as it is (`runtime`). So there is no transformer.
export default {
  roots: ['gateway', 'services', 'packages', 'tools', 'examples'].map(
    (folder) => `<rootDir>/${folder}`,
  ),
  testMatch: ['**/*.test.ts'],
  // What installs the tools of others runs with `pnpm test:long` alone.
  testPathIgnorePatterns: process.env.BACKLOT_LONG_TESTS ? [] : ['\\.long\\.test\\.ts$'],
  testEnvironment: '<rootDir>/tools/testing/src/jest/native-environment.ts',
  runtime: '<rootDir>/tools/testing/src/jest/native-runtime.ts',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {},
  globalSetup: '<rootDir>/tools/testing/src/jest/global-setup.ts',
  globalTeardown: '<rootDir>/tools/testing/src/jest/global-teardown.ts',
  testSequencer: '<rootDir>/tools/testing/src/jest/longest-first.ts',
  // On two cores too: half of the time a test waits for a server, or for time to pass.
  maxWorkers: 3,
  // For what tests leave behind. At 900 MB a collection of garbage takes more than a second.
  workerIdleMemoryLimit: '640MB',
  // Ten times as long as the longest takes on a quiet machine; `until` gives up sooner, and says on what.
  testTimeout: 180_000,
};
