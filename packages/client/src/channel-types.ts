export interface ChannelMessage<T> {
  channel: string;
  /** `userId` is null for visitors, the owner and keys. */
  from: { caller: 'anonymous' | 'user' | 'owner' | 'key' | 'operator'; userId: string | null };
  data: T;
  /** When the server has taken it. */
  at: string;
}

/** Who is there: a user once, however many tabs and devices they have. */
export interface ChannelMember<T> {
  /** Of one stream, as long as it is open. */
  id: string;
  userId: string | null;
  data: T;
  since: string;
}

export interface Channel<T = unknown> {
  /** Says something to whoever listens now; nothing is kept, and it may be lost. */
  send(data: T): Promise<void>;
  /** @returns what ends it */
  on(listener: (message: ChannelMessage<T>) => void, onError?: (error: Error) => void): () => void;
  /**
   * Says of the caller that they are there (null: nothing), until it is ended, and tells who is, at once and after each
   * change. Of several calls for a channel the last holds that says something.
   * @returns what ends it
   */
  presence<P extends object>(
    data: P | null,
    onMembers?: (members: ChannelMember<P>[]) => void,
    onError?: (error: Error) => void,
  ): () => void;
}
