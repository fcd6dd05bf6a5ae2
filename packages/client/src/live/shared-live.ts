import type { Transport } from '../transport.ts';
import { createFeed, type Feed } from './feed/feed.ts';
import type { LiveList } from './list/live-list.ts';
import { readWrites } from './list/writes.ts';

export interface Live {
  feed: Feed;
  lists: Set<LiveList>;
}

const byTransport = new WeakMap<Transport, Live>();

/** All that is live of one client. */
export const shareLive = (transport: Transport): Live => {
  const known = byTransport.get(transport);
  if (known) return known;
  const feed = createFeed(transport);
  const lists = new Set<LiveList>();
  transport.watcher = {
    sent(method, path, options, answer) {
      if (lists.size === 0) return;
      const writes = readWrites(feed.userId(), [method, path, options], answer);
      // Whoever made the call is told of its failure.
      writes?.answer.catch(() => {});
      for (const list of lists) if (list.collection === writes?.collection) list.sent(writes);
    },
    userChanged: feed.lookSoon,
  };
  const live = { feed, lists };
  byTransport.set(transport, live);
  return live;
};
