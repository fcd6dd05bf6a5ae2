import { randomUUID } from 'node:crypto';
import type { Identity } from '@backlot/identity';

/** What messages may take of a stream's queue: the rest is for changes of records. */
const unsentLength = 256 * 1024;

interface Queue {
  bytes: number;
  isEnded: boolean;
  push(text: string): boolean;
}

/** Who somebody is to the stream that they have opened. */
export const toCallerName = ({ caller, userId, keyId, ip }: Identity): string =>
  `${caller} ${userId ?? keyId ?? ip}`;

/** An open stream, as channels know it. */
export class ChannelListener {
  readonly id = randomUUID();
  /** As others know it: who knows `id` may change what it says. */
  readonly memberId = randomUUID();
  readonly identity: Identity;
  readonly channels: readonly string[];
  readonly #queue: Queue;
  /** Messages that it was not told of. */
  missed = 0;
  /** Channels of which it has to be told who is there. */
  readonly owed: Set<string>;

  constructor(identity: Identity, channels: readonly string[], queue: Queue) {
    this.identity = identity;
    this.channels = channels;
    this.#queue = queue;
    this.owed = new Set(channels);
  }

  hasRoomFor(length: number): boolean {
    return this.#queue.isEnded || this.#queue.bytes + length <= unsentLength;
  }

  /** Whether it is told. */
  push(text: string): boolean {
    return this.hasRoomFor(text.length) && this.#queue.push(text);
  }

  /** It is told that it has missed something, and anew who is there. */
  miss(messages: number): void {
    this.missed += messages;
    if (this.owed.size === this.channels.length) return;
    for (const channel of this.channels) this.owed.add(channel);
  }
}
