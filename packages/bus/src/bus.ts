/** An event under way. `id` is unique for good: a consumer that must act once remembers it. */
export interface BusEvent {
  id: string;
  topic: string;
  payload: unknown;
  /** The call that it comes from. */
  origin?: EventOrigin | undefined;
}

export interface EventOrigin {
  requestId?: string;
  /** Of the W3C's Trace Context. */
  traceparent?: string;
}

export type BusHandler = (event: BusEvent) => Promise<void>;

/** What no delivery succeeded for. */
export interface DeadEvent {
  /** Undefined where the message is no event. */
  event: BusEvent | undefined;
  /** As the message came. */
  content: Buffer;
  /** Why, in at most 500 characters. */
  error: string;
}

export interface Subscription {
  /**
   * Subscribers of the same queue share its events, each event going to one of them; every queue gets
   * every event of its topics. A failing handler gets the event again, up to five times, then the
   * event is dead: it is kept aside and reported, and those behind it go on. One that fails with
   * EventInvalid is dead at once.
   */
  queue: string;
  topics: readonly string[];
  handler: BusHandler;
  /** Keeps what is dead, in place of the bus; which does where this rejects. */
  keepDead?: (dead: DeadEvent) => Promise<void>;
}

/** What a handler throws where no further delivery can succeed: the event is dead at once. */
export class EventInvalid extends Error {
  override name = 'EventInvalid';
}

/** Of one queue that this process takes events from. */
export interface QueueBacklog {
  queue: string;
  /** Not handled yet; those that wait for their next try stand under a name of their own. */
  waiting: number;
  /** Dead, for a person to look at. */
  parked: number;
}

/** Told of an event's first failure; it is tried again. */
export type OnFailed = (event: BusEvent, queue: string, error: unknown) => void;

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
  /** Once more to this queue alone: an event that fails again is dead at once. Rejects as `publish` does. */
  redeliver(queue: string, event: BusEvent): Promise<void>;
  /**
   * Hands over what the bus itself keeps of this queue's dead events, the oldest first. Ends where `keep` rejects.
   * @returns how many it keeps no longer
   */
  takeDead(queue: string, most: number, keep: (dead: DeadEvent) => Promise<void>): Promise<number>;
  /** How much lies in the queues that this process takes events from; empty while nobody can tell. */
  backlog(): Promise<QueueBacklog[]>;
  /** Whether events can be published and received; none where they stay in this process. */
  connected?(): boolean;
  /** Whether it refuses the user of this process or the password. */
  refused?(): boolean;
  /** Waits for the events taken over to be handled, then refuses further ones. */
  close(): Promise<void>;
}

/** How often a handler is tried before its event is dead. */
export const maxDeliveries = 5;

const maxErrorLength = 500;

export const describeError = (error: unknown): string => String(error).slice(0, maxErrorLength);
