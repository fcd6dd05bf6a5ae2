import type { Transport } from '../transport.ts';
import type { LiveOptions, OnChange, OnItems, SubscribeOptions, Watching } from './live-types.ts';

/** The module that does it is loaded when the first list becomes live. */
export const createLive = <T>(transport: Transport, name: string) => {
  const watch =
    (way: 'live' | 'subscribe') =>
    (options: Watching, listener: unknown): (() => void) => {
      const started = import('../live/live-lists.ts').then((module) =>
        module[way](transport, name, options, listener as never),
      );
      started.catch(options?.onError);
      return () => void started.then((stop) => stop());
    };
  return {
    live: watch('live') as (options: LiveOptions<T>, onItems: OnItems<T>) => () => void,
    subscribe: watch('subscribe') as (
      options: SubscribeOptions<T>,
      onChange: OnChange<T>,
    ) => () => void,
  };
};
