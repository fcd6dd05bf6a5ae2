/** Below the patience of whoever asks for readiness. */
const timeoutMs = 2000;

const isReady = async (origin: string): Promise<boolean> => {
  try {
    const response = await fetch(`${origin}/readyz`, {
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
};

/** Names of the services that are not ready. @param origins by service */
export const missingServices = async (origins: Record<string, string>): Promise<string[]> => {
  const answers = await Promise.all(
    Object.entries(origins).map(async ([name, origin]) => ((await isReady(origin)) ? [] : [name])),
  );
  return answers.flat();
};
