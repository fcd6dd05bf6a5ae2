const slowMs = 4000;
/** Models think as long as they like, and large bodies take the time of the line. */
const mayTakeLong = (path: string, body: unknown) =>
  /\/(ai|_import|_export)([/?]|$)/.test(path) || body instanceof FormData || body instanceof Blob;

interface SlowCall {
  /** Whether it may be sent once more: the client repeats it then by itself. */
  canRepeat: boolean;
  abort: AbortController;
}

let slow: readonly SlowCall[] = [];
const listeners = new Set<(isSlow: boolean, canRepeat: boolean) => void>();
const set = (next: typeof slow) => {
  slow = next;
  const canRepeat = slow.some((one) => one.canRepeat);
  for (const listener of listeners) listener(slow.length > 0, canRepeat);
};

/** Told when a call begins to wait for long, and when none does any more. */
export const watchSlowCalls = (
  listener: (isSlow: boolean, canRepeat: boolean) => void,
): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Gives up the answers that are long in coming, so that the client asks for them anew. */
export const askAgain = (): void => {
  for (const { canRepeat, abort } of slow) if (canRepeat) abort.abort();
};

/** `fetch` that knows which answers are long in coming. */
export const watchedFetch: typeof fetch = async (input, init = {}) => {
  const { body, signal, method = 'GET' } = init;
  if (mayTakeLong(String(input), body)) return fetch(input, init);
  const abort = new AbortController();
  const one: SlowCall = { canRepeat: method !== 'PATCH', abort };
  const timer = setTimeout(() => set([...slow, one]), slowMs);
  const signals = signal ? [signal, abort.signal] : [abort.signal];
  try {
    return await fetch(input, { ...init, signal: AbortSignal.any(signals) });
  } finally {
    clearTimeout(timer);
    if (slow.includes(one)) set(slow.filter((other) => other !== one));
  }
};
