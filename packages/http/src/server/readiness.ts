/** What keeps a process from its work, by name: `postgresql`, `secrets`, a service. */
export interface Readiness {
  /** Some calls, or all, fail. */
  missing: readonly string[];
  /** All calls are served, less well than they should. */
  degraded: readonly string[];
  /** By what is missing or degraded, where more is known of it. */
  reasons: Readonly<Record<string, string>>;
}

export interface ServiceReadiness extends Readiness {
  /** False where no call can be served, so that none should be sent. */
  isServing: boolean;
}

export const nothingMissing: Readiness = { missing: [], degraded: [], reasons: {} };

/** What several parts miss is named once. */
export const mergeReadiness = (parts: readonly Readiness[]): Readiness => {
  const missing = new Set(parts.flatMap((part) => part.missing));
  const degraded = new Set(
    parts.flatMap((part) => part.degraded).filter((name) => !missing.has(name)),
  );
  const reasons = Object.assign({}, ...parts.map((part) => part.reasons));
  return { missing: [...missing], degraded: [...degraded], reasons };
};

/** Of a readiness, as `/readyz` answers it. */
export const readinessBody = ({ missing, degraded, reasons }: Readiness) => ({
  ...(missing.length > 0 && { missing }),
  ...(degraded.length > 0 && { degraded }),
  ...(Object.keys(reasons).length > 0 && { reasons }),
});

/**
 * Those who ask while a look goes on, and for so long afterwards, share its result.
 * @param now milliseconds
 */
export const shareLook = <T>(
  look: () => Promise<T>,
  now: () => number,
  keptMs = 1000,
): (() => Promise<T>) => {
  let shared: Promise<T> | undefined;
  let isOver = false;
  let overAt = 0;
  return () => {
    if (shared && (!isOver || now() - overAt < keptMs)) return shared;
    isOver = false;
    shared = look().finally(() => {
      isOver = true;
      overAt = now();
    });
    return shared;
  };
};
