interface Target {
  addEventListener?(name: string, listener: () => void): void;
  removeEventListener?(name: string, listener: () => void): void;
}

/** Nothing where there is no window. @returns what ends it */
export const onWindow = (name: string, listener: () => void): (() => void) => {
  const target = globalThis as Target;
  target.addEventListener?.(name, listener);
  return () => target.removeEventListener?.(name, listener);
};
