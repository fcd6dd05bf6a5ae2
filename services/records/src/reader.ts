import { type Requester, toRequester } from '@backlot/fair-shares';
import type { Identity } from '@backlot/identity';

export interface Reader {
  readonly requester: Requester;
  /** Aborted when they have gone; asked for where something waits, and not before. */
  readonly signal?: AbortSignal | undefined;
}

export interface ReadingCall {
  identity: Identity;
  readonly signal: AbortSignal;
}

/** A call's signal is made when it is asked for: most reads wait for nothing. */
export class CallReader implements Reader {
  readonly requester: Requester;
  readonly #call: ReadingCall;

  constructor(call: ReadingCall) {
    this.requester = toRequester(call.identity);
    this.#call = call;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}
