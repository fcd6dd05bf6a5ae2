import { flushCompileCache } from 'node:module';
import type { EnvironmentContext, JestEnvironment, JestEnvironmentConfig } from '@jest/environment';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/** The worker's own realm. What a test file changes in the process is undone behind it. */
export default class NativeEnvironment implements JestEnvironment {
  readonly global: JestEnvironment['global'] = globalThis as never;
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimers = null;
  readonly fakeTimersModern: ModernFakeTimers;
  readonly #env = { ...process.env };
  readonly #console = globalThis.console;
  readonly #exit = process.exit;
  readonly #exitCode = process.exitCode;

  constructor({ projectConfig }: JestEnvironmentConfig, _context: EnvironmentContext) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  getVmContext(): null {
    return null;
  }

  async setup(): Promise<void> {}

  async teardown(): Promise<void> {
    this.fakeTimersModern.dispose();
    globalThis.console = this.#console;
    process.exit = this.#exit;
    process.exitCode = this.#exitCode;
    for (const name of Object.keys(process.env)) {
      if (!Object.hasOwn(this.#env, name)) delete process.env[name];
    }
    Object.assign(process.env, this.#env);
    // For the next worker: one that is ended by a signal writes nothing.
    flushCompileCache();
  }
}
