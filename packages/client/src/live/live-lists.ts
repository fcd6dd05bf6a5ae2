/**
 * Live lists: one stream of changes for all that a page shows, shared between its tabs. Stands beside the client,
 * which loads it when something becomes live.
 */
import type { Transport } from '../transport.ts';
import type { Item } from '../values.ts';
import type { ServerChange } from './feed/stream.ts';
import { createLiveList, type State } from './list/live-list.ts';
import { fits, type Options, type SubscribeOptions, toWhere } from './list/options.ts';
import { shareLive } from './shared-live.ts';

export { listen, watchPresence } from './channels.ts';

const check = (way: string, listener: unknown): void => {
  if (typeof listener !== 'function')
    throw new TypeError(`${way} takes options and a function: ${way}({ where }, (told) => {}).`);
};

/** @returns what ends it */
export const live = (
  transport: Transport,
  collection: string,
  options: Options,
  onItems: (items: Item[], state: State) => void,
): (() => void) => {
  check('live', onItems);
  const { feed, lists } = shareLive(transport);
  const list = createLiveList({ transport, userId: feed.userId }, collection, options, onItems);
  lists.add(list);
  const leave = feed.add(list);
  return () => {
    list.stop();
    lists.delete(list);
    leave();
  };
};

export const subscribe = (
  transport: Transport,
  collection: string,
  options: SubscribeOptions,
  onChange: (change: Partial<ServerChange> | { type: 'reset' }) => void,
): (() => void) => {
  check('subscribe', onChange);
  const { feed } = shareLive(transport);
  const { onError = ({ message }) => console.warn(`Backlot: "${collection}": ${message}`) } =
    options;
  return feed.add({
    want: (userId) => ({ collection, where: toWhere(options, userId) }),
    begin: () => onChange({ type: 'reset' }),
    change({ collection: of, type, id, record, changedAt }) {
      if (of !== collection) return;
      if (record === undefined) return onChange({ type, id, changedAt });
      const isOut = fits(options, feed.userId(), record) === false;
      onChange(isOut ? { type: 'leave', id, changedAt } : { type, id, record, changedAt });
    },
    fail: onError,
  });
};
