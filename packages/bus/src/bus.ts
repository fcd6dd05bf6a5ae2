/** An event under way. `id` is unique for good: a consumer that must act once remembers it. */
export interface BusEvent {
  id: string;
  topic: string;
  payload: unknown;
}

export type BusHandler = (event: BusEvent) => Promise<void>;

export interface Subscription {
  /**
   * Subscribers of the same queue share its events, each event going to one of them; every queue gets
   * every event of its topics. A failing handler gets the event again, up to five times, then the
   * event is dead: it is kept aside and reported, and those behind it go on.
   */
  queue: string;
  topics: readonly string[];
  handler: BusHandler;
}

/** The event was not taken over: the bus is out of reach, or refused it. */
export class BusUnavailable extends Error {
  override name = 'BusUnavailable';
}

export interface Bus {
  /** Resolves once the event is taken over; rejects when it was not, and the caller tries again. */
  publish(event: BusEvent): Promise<void>;
  subscribe(subscription: Subscription): Promise<void>;
  /**
   * Every process that listens gets every event from now on; nothing is kept for one that is away.
   * For caches only.
   */
  listen(topics: readonly string[], handler: (event: BusEvent) => void): Promise<void>;
  /** Waits for the events taken over to be handled, then refuses further ones. */
  close(): Promise<void>;
}

/** How often a handler is tried before its event is dead. */
export const maxDeliveries = 5;
