import { useEffect, useSyncExternalStore } from 'react';

/** A line of the command palette. */
export interface Command {
  /** "Create a collection". */
  label: string;
  /** Stands above those of one kind: "Go to", "Data". */
  group: string;
  run(): void;
}

let sets: readonly (readonly Command[])[] = [];
const listeners = new Set<() => void>();
const set = (next: typeof sets) => {
  sets = next;
  for (const listener of listeners) listener();
};

/** Offers commands while the screen is there. @param commands from `useMemo`, or from outside of the component */
export const useCommands = (commands: readonly Command[]): void =>
  useEffect(() => {
    set([...sets, commands]);
    return () => set(sets.filter((offered) => offered !== commands));
  }, [commands]);

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useOfferedCommands = (): readonly Command[] =>
  useSyncExternalStore(subscribe, () => sets).flat();
