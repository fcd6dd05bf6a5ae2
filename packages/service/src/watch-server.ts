import type { DependencyState, Finding } from '@backlot/http';

/** A single failure may be the call's own. */
const failuresInARow = 3;

/** What calls to a server outside say of it; none is made for that alone. */
export interface ServerWatch {
  succeeded(): void;
  failed(): void;
  find(): Promise<Finding>;
}

/** @param state in which it is after three calls that failed, until one succeeds */
export const watchServer = (name: string, state: DependencyState): ServerWatch => {
  let failures = 0;
  return {
    succeeded() {
      failures = 0;
    },
    failed() {
      failures += 1;
    },
    find: async () =>
      failures < failuresInARow ? { name, state: 'works' } : { name, state, reason: 'calls_fail' },
  };
};
