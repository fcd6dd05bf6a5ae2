import { useSyncExternalStore } from 'react';

let isNeeded = false;
const listeners = new Set<() => void>();
const set = (next: boolean) => {
  if (next === isNeeded) return;
  isNeeded = next;
  for (const listener of listeners) listener();
};

/** A call was refused until the owner has shown a second factor. */
export const secondFactorNeeded = (): void => set(true);
/** The owner has set one up with this session, or this session is over. */
export const secondFactorShown = (): void => set(false);

/** Whether the session opens nothing but what sets up a second factor. */
export const useSecondFactorNeeded = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isNeeded,
  );
