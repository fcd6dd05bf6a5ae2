/** What `work` comes to; undefined where it takes longer: then its signal is aborted, and what comes late is dropped. */
export const withTimeout = async <T>(
  work: (signal: AbortSignal) => Promise<T>,
  limitMs: number,
): Promise<T | undefined> => {
  const late = Promise.withResolvers<undefined>();
  const timeout = new AbortController();
  const timer = setTimeout(() => {
    late.resolve(undefined);
    timeout.abort();
  }, limitMs).unref();
  try {
    return await Promise.race([work(timeout.signal), late.promise]);
  } finally {
    clearTimeout(timer);
  }
};
