import { createRequire, enableCompileCache, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { setGlobals } from './globals.ts';

const require = createRequire(import.meta.url);
// Its types are those of the CommonJS file alone.
const { default: Runtime }: typeof import('jest-runtime') = require('jest-runtime');
const globalsUrl = new URL('globals.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals'
      ? { url: globalsUrl, format: 'module-typescript', shortCircuit: true }
      : next(specifier, context),
});
enableCompileCache(process.env.NODE_COMPILE_CACHE);

/**
 * Loads modules as Node itself does, in the worker's own realm: once for all the test files that the worker
 * runs. Only the test file itself and jest's state are new for each. So a module keeps nothing that one
 * test may leave to another.
 */
export default class NativeRuntime extends Runtime {
  readonly #testPath: string;

  constructor(...args: ConstructorParameters<typeof Runtime>) {
    const { getBuiltinModule } = process;
    super(...args);
    // The class puts one of its own realm in its place.
    process.getBuiltinModule = getBuiltinModule;
    this.#testPath = args[6];
  }

  override unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  override async unstable_importModule(path: string): Promise<unknown> {
    const { href } = pathToFileURL(path);
    return import(path === this.#testPath ? `${href}?at=${performance.now()}` : href);
  }

  override requireModule<T>(path: string, name?: string): T {
    return name === undefined ? require(path) : createRequire(path)(name);
  }

  /** Jest asks for the part of jest-circus that holds the state of a file: a new one for each. */
  override requireInternalModule<T>(path: string, name?: string): T {
    if (name !== undefined) return createRequire(path)(name);
    Reflect.deleteProperty(globalThis, Symbol.for('EVENT_HANDLERS'));
    delete require.cache[path];
    return require(path);
  }

  override setGlobalsForRuntime(
    globals: Parameters<InstanceType<typeof Runtime>['setGlobalsForRuntime']>[0],
  ): void {
    super.setGlobalsForRuntime(globals);
    setGlobals(this.requireModuleOrMock(this.#testPath, '@jest/globals'));
  }
}
