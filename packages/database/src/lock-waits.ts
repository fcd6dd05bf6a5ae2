import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import { LockTimeout } from './errors.ts';

/** How long a statement in `work` of `retryLocked` waits for a lock, with its connection. */
const lockTimeoutMs = 200;

const settingFor = (timeoutMs: number) => `lock_timeout = ${timeoutMs}`;

export interface LockWaits {
  /** What an outermost transaction has to set for itself. */
  settingFor(client: pg.ClientBase): string | undefined;
  /** Has what is sent next on the connection, outside of transactions, wait as long as it may. */
  switchFor(client: pg.ClientBase): void;
  retryLocked<T>(work: () => Promise<T>, pause: () => Promise<void>): Promise<T>;
}

/** @param patienceMs for how long `retryLocked` tries */
export const createLockWaits = (patienceMs: number): LockWaits => {
  const ambient = new AsyncLocalStorage<number>();
  const sent = new WeakMap<pg.ClientBase, number>();
  const findSwitch = (client: pg.ClientBase): number | undefined => {
    const wanted = ambient.getStore() ?? 0;
    return (sent.get(client) ?? 0) === wanted ? undefined : wanted;
  };

  return {
    settingFor(client) {
      const wanted = findSwitch(client);
      return wanted === undefined ? undefined : settingFor(wanted);
    },
    switchFor(client) {
      const wanted = findSwitch(client);
      if (wanted === undefined) return;
      sent.set(client, wanted);
      // Where the connection is lost, so is what is sent behind it.
      client.query(`SET ${settingFor(wanted)}`).catch(() => {});
    },
    async retryLocked(work, pause) {
      const untilMs = performance.now() + patienceMs;
      for (;;) {
        try {
          return await ambient.run(lockTimeoutMs, work);
        } catch (error) {
          if (!(error instanceof LockTimeout) || performance.now() >= untilMs) throw error;
        }
        await pause();
      }
    },
  };
};
