/** Between two lines about the same failure. */
const lineEveryMs = 60_000;

export interface RepeatedFailure {
  err: unknown;
  /** Failures of the same kind since the line before. */
  repeated?: number;
}

const kind = (error: unknown): string => {
  const { name, code, message } = (error ?? {}) as Record<string, unknown>;
  return [name, code ?? message].join();
};

/**
 * For what is tried again and again while something is away: the first failure is written at once, and each of
 * another kind; then one line a minute, which counts.
 * @param now milliseconds
 */
export const countRepeats = (
  write: (failure: RepeatedFailure) => void,
  now: () => number = Date.now,
): ((error: unknown) => void) => {
  let last: { kind: string; at: number } | undefined;
  let repeated = 0;
  return (err) => {
    const isSame = last?.kind === kind(err);
    if (last && isSame && now() - last.at < lineEveryMs) {
      repeated += 1;
      return;
    }
    write({ err, ...(repeated > 0 && { repeated }) });
    last = { kind: kind(err), at: now() };
    repeated = 0;
  };
};
