import type { Transport } from '../../transport.ts';
import type { ServerChange, Source, StreamListener, Told } from './stream.ts';
import { openSource } from './tabs.ts';
import { type Failure, joinWants, toKey, type Want } from './want.ts';
import { onWindow } from './window.ts';

/** A list, or somebody who is told of changes. */
export interface Subscriber {
  /** @param userId of who is signed in; null for nobody, and for keys */
  want(userId: string | null): Want;
  /** Later changes are sure to be told; what is known from before may be old. */
  begin(): void;
  /** Somebody else is signed in now. */
  forget?(): void;
  /** Of any collection. */
  change?(change: ServerChange): void;
  /** Of its channel. */
  told?(told: Told): void;
  fail(error: Failure): void;
  /** The stream does not come. */
  late?(): void;
}

/** Lists that come together share a connection. */
const gatherMs = 10;
/** A page is to show something without a stream too. */
const lateMs = 1500;

/** Id of a user, from the token; null without one. */
const userIdIn = (authorization: string | undefined): string | null => {
  try {
    const [, payload = ''] = authorization?.split('.') ?? [];
    const { sub } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
    return typeof sub === 'string' ? sub : null;
  } catch {
    return null;
  }
};

export type Feed = ReturnType<typeof createFeed>;

/** All that one client watches, on one stream. */
export const createFeed = (transport: Transport) => {
  /** With the key under which each is known to the stream, and whether it has begun. */
  const subscribers = new Map<Subscriber, { key?: string; hasBegun?: true }>();
  let source: Source | undefined;
  /** Undefined before the first look. */
  let userId: string | null | undefined;
  let isOver = false;
  let gathering: ReturnType<typeof setTimeout> | undefined;
  let late: ReturnType<typeof setTimeout> | undefined;

  const each = (
    keys: readonly string[] | undefined,
    tell: (subscriber: Subscriber, state: { hasBegun?: true }) => void,
  ) => {
    for (const [subscriber, state] of [...subscribers])
      if (state.key !== undefined && keys?.includes(state.key) !== false) tell(subscriber, state);
  };
  const listener: StreamListener = {
    ready: (keys) =>
      each(keys, (subscriber, state) => {
        if (!state.hasBegun) subscriber.begin();
        state.hasBegun = true;
      }),
    change: (change) =>
      each(undefined, (subscriber, { hasBegun }) => {
        if (hasBegun) subscriber.change?.(change);
      }),
    told: (told) =>
      each([toKey({ channel: told.data.channel })], (subscriber) => subscriber.told?.(told)),
    reset: () =>
      each(undefined, (subscriber, { hasBegun }) => {
        if (hasBegun) subscriber.begin();
      }),
    fail: (error, keys) => {
      isOver ||= error.status === 401;
      each(keys, (subscriber) => subscriber.fail(error));
    },
    alive() {},
  };

  const close = () => {
    source?.close();
    source = undefined;
    isOver = false;
  };
  const tellLate = () =>
    each(undefined, (subscriber, { hasBegun }) => {
      if (!hasBegun) subscriber.late?.();
    });

  const look = async () => {
    gathering = undefined;
    const now = userIdIn(await transport.authorization());
    if (now !== userId || isOver) {
      close();
      for (const [subscriber, state] of subscribers) {
        if (userId !== undefined && now !== userId) subscriber.forget?.();
        delete state.hasBegun;
      }
      userId = now;
    }
    clearTimeout(late);
    if (subscribers.size === 0) return close();
    const wants = [...subscribers].map(([subscriber, state]) => {
      const want = subscriber.want(now);
      state.key = toKey(want);
      return want;
    });
    source ??= openSource(
      transport,
      `backlot ${transport.url('')} ${now ?? ''} ${transport.viewAs ?? ''}`,
      listener,
    );
    source.want([...joinWants(wants).values()]);
    late = setTimeout(tellLate, lateMs);
  };
  const lookSoon = () => {
    if (gathering) return;
    gathering = setTimeout(() => void look().catch(() => {}), gatherMs);
  };
  /** Another tab has signed in or out. */
  onWindow('storage', lookSoon);

  return {
    userId: () => userId ?? null,
    lookSoon,
    add(subscriber: Subscriber): () => void {
      subscribers.set(subscriber, {});
      lookSoon();
      return () => {
        if (subscribers.delete(subscriber)) lookSoon();
      };
    },
  };
};
