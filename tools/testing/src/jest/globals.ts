import type * as jestGlobals from '@jest/globals';

/** What a test file imports as @jest/globals: of the file that runs now, also in modules that stay loaded. */
type Globals = typeof jestGlobals;
type Name = keyof Globals;

let current: Globals | undefined;

export const setGlobals = (globals: Globals): void => {
  current = globals;
};

const find = (name: Name): object => {
  if (current === undefined) throw new Error(`${name} is there only while a test file runs.`);
  return current[name];
};

const forward = <N extends Name>(name: N): Globals[N] =>
  new Proxy(() => undefined, {
    apply: (_target, self, args) => Reflect.apply(find(name) as () => unknown, self, args),
    get: (_target, key) => Reflect.get(find(name), key),
  }) as unknown as Globals[N];

export const afterAll = forward('afterAll');
export const afterEach = forward('afterEach');
export const beforeAll = forward('beforeAll');
export const beforeEach = forward('beforeEach');
export const describe = forward('describe');
export const expect = forward('expect');
export const it = forward('it');
export const jest = forward('jest');
export const test = forward('test');
