import { AsyncLocalStorage } from 'node:async_hooks';

/** Which call of a caller work is done for, also in processes that handle its events later. */
export interface Origin {
  requestId?: string;
  /** Of the W3C's Trace Context, where calls are traced. */
  traceparent?: string;
}

const ambient = new AsyncLocalStorage<Origin>();

export const currentOrigin = (): Origin | undefined => ambient.getStore();

/** All that `work` logs, stores and sends names this call. */
export const withOrigin = <T>(origin: Origin | undefined, work: () => T): T =>
  origin === undefined ? work() : ambient.run(origin, work);
