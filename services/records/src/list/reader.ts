import type { Flow } from '@backlot/fair-shares';

/** For whom something is read. */
export interface Reader {
  flow: Flow;
  /** Aborted when they have gone. */
  signal?: AbortSignal | undefined;
}
